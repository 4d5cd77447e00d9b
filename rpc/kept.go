package rpc

import (
	"context"
	"os"
)

// A service manager may name another slipwayd than the one that clients would start.
// It brings that one back however often it is replaced. So the first client that
// sees it come back writes that down beside the socket, and the others leave it in
// its place: every command would restart it otherwise, and gain nothing.

func (e Endpoint) keptPath() string { return e.beside(".kept") }

// keptNote names a daemon that came back and the one that was to take its place.
// Another build of either is worth a new attempt.
func keptNote(running, startable Build) string {
	return running.String() + "\n" + startable.String() + "\n"
}

// isKept tells whether the daemon at e is known to come back.
func (o *Options) isKept(e Endpoint, running Build) bool {
	note, err := os.ReadFile(e.keptPath())
	return err == nil && string(note) == keptNote(running, o.startableBuild())
}

// noteReturn looks who listens after a daemon was made to end. The caller holds the
// start lock, so no client has started it.
func (k *connector) noteReturn(ctx context.Context, e Endpoint, ended Build) {
	c, err := dialFirst(ctx, []Endpoint{e})
	if c == nil || err != nil {
		return
	}
	defer c.close()
	running, err := c.greet(ctx, k.options)
	if err != nil || running.String() != ended.String() {
		return
	}
	// Without the note the next command tries again, which is slow and nothing worse.
	_ = os.Remove(e.keptPath()) // not written in place: a link there would be followed
	if f, err := os.OpenFile(e.keptPath(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_, _ = f.WriteString(keptNote(running, k.options.startableBuild()))
		_ = f.Close()
	}
}

// forgetReturn is for a place where a client starts the daemon: no manager does.
func forgetReturn(e Endpoint) { _ = os.Remove(e.keptPath()) }
