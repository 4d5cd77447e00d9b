package main

import (
	"errors"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"
)

// screen is the terminal while it belongs to this program.
type screen struct {
	before  *term.State // of stdin; nil where stdin is no terminal
	restore func()      // what the platform changed of stdout

	keys    chan string
	resized chan os.Signal
	ended   chan os.Signal // asked to end by a signal

	colour bool
	scroll int
	shown  []string // what is on the terminal now; nil = unknown
	below  bool     // there is more to scroll to
}

// Control sequences (ECMA-48 and xterm): the other screen keeps what the user had.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	home        = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
)

// openScreen takes the terminal. Close gives it back, whatever happens between.
func openScreen() (*screen, error) {
	s := &screen{
		keys: make(chan string), resized: make(chan os.Signal, 1), ended: make(chan os.Signal, 1),
		colour: os.Getenv("NO_COLOR") == "",
	}
	restore, err := prepareOutput()
	if err != nil {
		return nil, err
	}
	s.restore = restore
	// In raw mode the interrupt key arrives as a byte: no signal comes between
	// this program and giving the terminal back.
	if stdin := int(os.Stdin.Fd()); term.IsTerminal(stdin) {
		if s.before, err = term.MakeRaw(stdin); err != nil {
			restore()
			return nil, err
		}
		go s.readKeys()
	}
	signal.Notify(s.ended, endSignals...)
	if len(resizeSignals) > 0 {
		signal.Notify(s.resized, resizeSignals...)
	}
	if _, err := os.Stdout.WriteString(enterScreen); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// close gives the terminal back.
func (s *screen) close() {
	_, _ = os.Stdout.WriteString(leaveScreen) // a terminal that is gone needs nothing
	s.restore()
	if s.before != nil {
		_ = term.Restore(int(os.Stdin.Fd()), s.before)
	}
	signal.Stop(s.resized)
	signal.Stop(s.ended)
}

// readKeys passes on what is typed. It ends with the process: a read from a
// terminal can not be cut short.
func (s *screen) readKeys() {
	buffer := make([]byte, 64)
	for {
		n, err := os.Stdin.Read(buffer)
		if err != nil {
			s.keys <- "q"
			return
		}
		s.keys <- string(buffer[:n])
	}
}

// Keys that end the watch, and those that scroll.
var (
	quitKeys = []string{"q", "Q", "\x03", "\x04", "\x1b"}
	downKeys = []string{"j", "\x1b[B", "\x1bOB", "\x1b[6~", " "}
	upKeys   = []string{"k", "\x1b[A", "\x1bOA", "\x1b[5~"}
)

// press acts on a key and tells whether it ends the watch.
func (s *screen) press(key string) bool {
	switch {
	case slices.Contains(quitKeys, key), strings.ContainsAny(key, "q\x03") && key[0] != '\x1b':
		return true
	case slices.Contains(downKeys, key) && s.below:
		s.scroll++
	case slices.Contains(upKeys, key):
		s.scroll = max(s.scroll-1, 0)
	case key == "\x0c": // the usual key for a fresh picture
		s.shown = nil
	}
	return false
}

// show brings the board to the terminal, if it looks different from what is there.
func (s *screen) show(b *board, now time.Time) {
	width, height, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil || width < 1 || height < 1 {
		width, height = 80, 24
	}
	frame := s.frame(painter{width, s.colour}, b, now, height)
	if slices.Equal(frame, s.shown) {
		return
	}
	s.shown = frame
	text := home + strings.Join(frame, clearLine+"\r\n") + clearLine + clearBelow
	if _, err := os.Stdout.WriteString(text); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		s.hangUp()
	}
}

// hangUp ends the watch: nobody can see it any more.
func (s *screen) hangUp() {
	select {
	case s.ended <- os.Interrupt:
	default:
	}
}

// frame is the part of the board that the terminal has room for.
func (s *screen) frame(p painter, b *board, now time.Time, height int) []string {
	head, body := p.lines(b, now)
	room := max(height-len(head)-1, 0)
	s.scroll = min(s.scroll, max(len(body)-room, 0))
	s.below = len(body)-s.scroll > room
	frame := append(head, body[s.scroll:min(len(body), s.scroll+room)]...)
	for len(frame) < height-1 {
		frame = append(frame, "")
	}
	foot := "q quit"
	if s.below || s.scroll > 0 {
		foot += "   ↑ ↓ scroll"
	}
	return append(frame, p.style("\x1b[2m", cut(foot, p.width)))[:height]
}
