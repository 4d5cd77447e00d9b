package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"slipway/engine"
	"slipway/rpc"
	"slipway/schema"
)

// logCommand is `slipway log RUN` (daemon.md, section 5). It asks the daemon only.
type logCommand struct {
	place
	format
	Follow bool   `help:"Go on with what happens from now on, until the Run ends or you interrupt the command."`
	After  int    `placeholder:"N" help:"Show only what happened after the event with this number (default: 0, which shows all)."`
	Run    string `arg:"" help:"The id of a Run, as slipway status shows it."`
}

// logParams are the parameters of run/log.
type logParams struct {
	runParams
	After int64 `json:"after,omitempty"`
}

// subscribeParams are the parameters of run/subscribe.
type subscribeParams struct {
	Root  string `json:"root"`
	Run   string `json:"run,omitempty"`
	After *int64 `json:"after,omitempty"`
}

func (c *logCommand) run(s *session) error {
	s.at(c.place)
	s.daemonOnly = true
	if c.After < 0 {
		return usageFault{"--after needs the number of an event, 0 or more"}
	}
	if err := checkRunArgument(c.Run); err != nil {
		return err
	}
	l := &logReader{session: s, run: c.Run, asJSON: c.JSON, last: int64(c.After)}
	if err := l.printNew(); err != nil || !c.Follow || l.over {
		return err
	}
	err := rpc.Follow(context.Background(), s.options(), rpc.Subscription{
		Method:  "run/subscribe",
		Params:  func() any { return subscribeParams{s.root, l.run, &l.last} },
		Changed: l.changed,
	})
	if errors.Is(err, errRunEnded) {
		return nil
	}
	return err
}

// logReader prints the events of a Run, each once.
type logReader struct {
	session *session
	run     string
	asJSON  bool
	last    int64 // sequence of the last event that was printed
	over    bool  // the Run has ended
}

// errRunEnded ends the following of a Run that has ended.
var errRunEnded = errors.New("the Run has ended")

// changed prints what is new when there is something new.
func (l *logReader) changed(params json.RawMessage) error {
	e, err := decode[engine.RunEvent](params)
	if err != nil || e.Sequence <= l.last {
		return err
	}
	if err := l.printNew(); err != nil {
		return err
	}
	if l.over {
		return errRunEnded
	}
	return nil
}

// printNew prints everything behind the last event.
func (l *logReader) printNew() error {
	for {
		answer, err := l.session.call("run/log", logParams{runParams{l.session.root, l.run}, l.last})
		if err != nil {
			return err
		}
		page, err := decode[engine.EventLog](answer)
		if err != nil {
			return err
		}
		for _, e := range page.Events {
			if err := l.print(e); err != nil {
				return err
			}
		}
		if page.NextAfter == nil {
			return nil
		}
	}
}

func (l *logReader) print(e engine.LoggedEvent) error {
	l.last, l.over = e.Sequence, e.State == schema.Ended
	text := []byte(paperOf(os.Stdout).event(e))
	if l.asJSON {
		encoded, err := schema.Marshal(e)
		if err != nil {
			return err
		}
		text = jsonLine(encoded)
	}
	if _, err := os.Stdout.Write(text); err != nil {
		return fmt.Errorf("the log could not be written to stdout: %w", reason(err))
	}
	return nil
}
