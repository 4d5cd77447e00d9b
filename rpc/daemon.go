package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"slipway/gitwatch"
)

// DefaultIdle is how long a daemon without connections stays.
const DefaultIdle = 30 * time.Minute

// Times of the end of a daemon.
const (
	// handOver is how long a starting daemon waits for one that is draining: its
	// drain, and a little for the rest.
	handOver = DrainTime + 2*time.Second
	// closeTime is how long the engine may take after the last answer.
	closeTime = 5 * time.Second
)

// readyByte is what a daemon sends through the readiness pipe once it listens.
// One that fails sends why instead, in words.
const readyByte = 'R'

// DaemonOptions say how a daemon runs. Runs is required.
type DaemonOptions struct {
	// Socket is the endpoint; "" chooses it as clients do (daemon.md, section 2).
	Socket string
	// Idle is how long to stay without a connection; 0 = for ever.
	Idle time.Duration
	// Foreground sends the log to stderr instead of the file.
	Foreground bool
	// Ready gets one byte when the daemon listens, and is closed; nil = nobody
	// waits.
	Ready *os.File
	// Supervision is what the service manager gave that started the daemon.
	Supervision Supervision
	// Runs makes the engine, and Gauges tells its figures; Gauges may be nil.
	Runs   func() (Runs, error)
	Gauges func() Gauges
}

// errRunning says that the endpoint is taken by a daemon that works.
var errRunning = errors.New("a daemon is running there already")

// RunDaemon is the whole life of a daemon: it returns when the daemon has ended,
// because it was asked to (daemon/shutdown, SIGTERM, SIGINT), was idle, or could
// not start.
func RunDaemon(ctx context.Context, o DaemonOptions) error {
	err := runDaemon(ctx, &o)
	if err != nil && o.Ready != nil {
		fmt.Fprintln(o.Ready, err) // whoever started it has no other way to know
	}
	if o.Ready != nil {
		o.Ready.Close()
	}
	return err
}

func runDaemon(ctx context.Context, o *DaemonOptions) error {
	securePermissions()
	defer o.Supervision.close()
	seat, err := takeSeat(ctx, o)
	if err != nil {
		return err
	}
	defer seat.leave()
	d := &daemon{options: o, seat: seat}
	if err := d.openLog(); err != nil {
		return err
	}
	defer d.closeLog()
	if err := d.serve(ctx); err != nil {
		d.log.Error("ended", "error", err.Error())
		return err
	}
	d.log.Info("ended")
	return nil
}

// daemon is a daemon that has its place.
type daemon struct {
	options *DaemonOptions
	seat    *seat
	log     *slog.Logger
	file    *logFile // nil in the foreground
}

func (d *daemon) openLog() error {
	var out io.Writer = os.Stderr
	if !d.options.Foreground {
		file, err := openLog(d.seat.endpoint.LogPath())
		if err != nil {
			return err
		}
		d.file, out = file, file
	}
	d.log = slog.New(slog.NewTextHandler(out, nil)).With("pid", os.Getpid())
	return nil
}

func (d *daemon) closeLog() {
	if d.file != nil {
		d.file.close()
	}
}

// serve is the time between having a place and leaving it.
func (d *daemon) serve(ctx context.Context) error {
	runs, err := d.options.Runs()
	if err != nil {
		return err
	}
	build := OwnBuild()
	server := NewServer(ServerOptions{
		Runs: runs, Log: d.log, Build: build, Socket: d.seat.endpoint.Socket,
		Environment: gitwatch.RelevantEnvironment(os.Environ()), Idle: d.options.Idle, Gauges: d.gauges,
	})
	signals, stopSignals := watchSignals()
	defer stopSignals()
	served := make(chan error, 1)
	go func() { served <- server.Serve(d.seat.listener) }()
	d.announce(build)
	ended := make(chan struct{})
	defer close(ended)
	go d.options.Supervision.watch(d.log, server.alive, ended)
	failure := d.wait(ctx, server, signals, served)
	d.options.Supervision.tell(stateStopping)
	return errors.Join(failure, d.end(ctx, server, runs, signals))
}

// gauges are the figures of the engine, with what is wrong with the log.
func (d *daemon) gauges() Gauges {
	var g Gauges
	if d.options.Gauges != nil {
		g = d.options.Gauges()
	}
	if d.file != nil {
		if err := d.file.fault(); err != nil {
			g.Problems = append(g.Problems, logProblem(err))
		}
	}
	return g
}

// announce tells everyone who waits that the daemon listens.
func (d *daemon) announce(build Build) {
	d.log.Info("started", "build", build.String(), "socket", d.seat.endpoint.Socket)
	if err := d.seat.describe(build); err != nil {
		d.log.Warn("the information file could not be written", "error", err.Error())
	}
	if ready := d.options.Ready; ready != nil {
		_, _ = ready.Write([]byte{readyByte}) // who waited may have gone
		ready.Close()
		d.options.Ready = nil
	}
	d.options.Supervision.tell(stateReady)
}

// wait returns when the daemon has to end.
func (d *daemon) wait(ctx context.Context, server *Server, signals <-chan os.Signal, served <-chan error) error {
	look := time.NewTicker(lookAtSocket)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if d.seat.lost() {
				d.log.Warn("the socket is gone from its path, so no client finds this daemon; the next command starts another")
				server.beginDrain("the socket is gone")
				return nil
			}
		case s := <-signals:
			if !isReopen(s) {
				server.beginDrain(s.String())
				return nil
			}
			if d.file == nil {
				continue
			}
			if err := d.file.reopen(); err != nil {
				d.log.Error("the log could not be reopened", "error", err.Error())
			}
		case <-server.Draining():
			return nil
		case err := <-served:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

// end drains the server and closes the engine. A second signal cuts it short.
func (d *daemon) end(ctx context.Context, server *Server, runs Runs, signals <-chan os.Signal) error {
	ctx = context.WithoutCancel(ctx)
	draining, cancel := context.WithTimeoutCause(ctx, DrainTime, errors.New("running calls took too long"))
	defer cancel()
	go func() {
		for {
			select {
			case s := <-signals:
				if !isReopen(s) {
					cancel()
				}
			case <-draining.Done():
				return
			}
		}
	}()
	drained := server.Drain(draining)
	closing, cancelClose := context.WithTimeout(ctx, closeTime)
	defer cancelClose()
	return errors.Join(drained, runs.Close(closing))
}
