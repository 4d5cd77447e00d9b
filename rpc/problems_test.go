package rpc

import (
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestProblemsOfFigures(t *testing.T) {
	for name, c := range map[string]struct {
		figures Figures
		want    string // codes
	}{
		"well":        {Figures{OldestCallMS: 10, OpenFiles: 50, Gauges: Gauges{JournalSyncP99US: 900_000, Worktrees: []Worktree{{Mode: "scan"}}}}, ""},
		"stuck":       {Figures{OldestCallMS: 31_000}, problemCallStuck},
		"descriptors": {Figures{OpenFiles: 81}, problemDescriptors},
		"slow disk":   {Figures{Gauges: Gauges{JournalSyncP99US: 2_000_000}}, problemSyncSlow},
		"scanned":     {Figures{Gauges: Gauges{Worktrees: []Worktree{{Root: "/w", Mode: "scan", Reason: "watch limit"}}}}, problemScanned},
		"two":         {Figures{OpenFiles: 81, OldestCallMS: 31_000}, problemCallStuck + " " + problemDescriptors},
	} {
		var codes []string
		for _, p := range c.figures.problems(100) {
			codes = append(codes, p.Code)
			if p.Message == "" || p.Remedy == "" || strings.Contains(p.Message+p.Remedy, "\n") {
				t.Errorf("%s: %+v is not one line each", name, p)
			}
		}
		if got := strings.Join(codes, " "); got != c.want {
			t.Errorf("%s: problems %q", name, got)
		}
	}
	if problems := (&Figures{OpenFiles: 1 << 20}).problems(0); len(problems) > 0 {
		t.Errorf("without a limit: %v", problems)
	}
}

func TestRemediesOfScannedWorktrees(t *testing.T) {
	for reason, want := range map[string]string{
		"limit: no further inotify watch is left":                  "sysctl",
		"unsupported file system: changes on NFS are not all told": "nothing has to be done",
		"the last observation failed: git status: time limit":      "git status",
	} {
		problems := (&Figures{Gauges: Gauges{Worktrees: []Worktree{{Root: "/w", Mode: "scan", Reason: reason}}}}).problems(0)
		if len(problems) != 1 || !strings.Contains(problems[0].Remedy, want) || !strings.Contains(problems[0].Message, reason) {
			t.Errorf("%s: %+v", reason, problems)
		}
	}
}

func TestWhichModeACommandWouldUse(t *testing.T) {
	blocked := &blockedError{"/s", errEnding}
	for name, c := range map[string]struct {
		mode    string
		running bool
		blocked *blockedError
		want    string
		reason  string
	}{
		"usual":            {modeAuto, true, nil, ModeDaemon, "listens"},
		"none yet":         {modeAuto, false, nil, ModeDaemon, "starts one"},
		"off":              {modeOff, true, nil, ModeEmbedded, "SLIPWAY_DAEMON"},
		"sandbox":          {modeAuto, false, blocked, ModeEmbedded, "/s"},
		"sandbox, require": {modeRequire, false, blocked, ModeDaemon, "fail"},
	} {
		h := &Health{Mode: ModeDaemon, Socket: "/s"}
		h.decide(c.mode, c.running, c.blocked)
		if h.Mode != c.want || !strings.Contains(h.ModeReason, c.reason) {
			t.Errorf("%s: %s, because %s", name, h.Mode, h.ModeReason)
		}
	}
}

func TestSandboxRemedyNamesTheTool(t *testing.T) {
	for variable, c := range map[string]struct{ has, hasNot string }{
		"CLAUDECODE=1":                     {"Claude Code", "Codex"},
		"CODEX_SANDBOX_NETWORK_DISABLED=1": {"network_access", "Claude"},
		"OTHER=1":                          {"Codex", "nothing"},
	} {
		if got := sandboxRemedy(environment{variable}, "/s"); !strings.Contains(got, c.has) || strings.Contains(got, c.hasNot) {
			t.Errorf("%s: %s", variable, got)
		}
	}
}

func TestLogThatCanNotBeWrittenIsAProblem(t *testing.T) {
	l, err := openLog(shortTempDir(t) + "/d1.log")
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{options: &DaemonOptions{}, file: l}
	if problems := d.gauges().Problems; len(problems) != 0 {
		t.Errorf("a good log: %v", problems)
	}
	l.file.Close()
	_, _ = l.Write([]byte("line\n"))
	if problems := d.gauges().Problems; len(problems) != 1 || problems[0].Code != problemLog {
		t.Errorf("a closed log: %v", problems)
	}
}

func TestAStuckServerDoesNotPing(t *testing.T) {
	pings, stop, held := make(chan string, 100), make(chan struct{}), make(chan struct{})
	s := Supervision{Notify: func(state string) { pings <- state }, Watchdog: 2 * time.Millisecond}
	over := make(chan struct{})
	go func() {
		s.watch(slog.New(slog.DiscardHandler), func() { <-held }, stop)
		close(over)
	}()
	select {
	case ping := <-pings:
		t.Errorf("a stuck server says %s", ping)
	case <-time.After(50 * time.Millisecond):
	}
	close(held)
	if ping := <-pings; ping != stateAlive {
		t.Errorf("a server that goes on says %s", ping)
	}
	close(stop)
	<-over
}
