// Slipwayd is the daemon: one process per user that owns every Run writer and
// answers the local programs of that user over a socket (daemon.md).
//
//	slipwayd                    # as a client would start it
//	slipwayd --foreground       # with the log on stderr
//	slipwayd --idle 0           # stays until it is told to end
//
// Nobody has to start it: `slipway` does when it finds none, and a service
// manager may. SIGTERM and SIGINT let running calls finish and end it, SIGHUP
// reopens its log.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"slipway/engine"
	"slipway/gitwatch"
	"slipway/rpc"
	"slipway/rpc/supervise"
)

type flags struct {
	Socket     string        `placeholder:"PATH" help:"Listen there instead of the user's usual place."`
	Idle       time.Duration `default:"${idle}" placeholder:"DURATION" help:"End after this time without a connection; 0 = never (default: ${idle})."`
	Foreground bool          `help:"Write the log to stderr instead of the file beside the socket."`
	Version    bool          `short:"v" help:"Print the version and exit."`
	Build      bool          `hidden:"" help:"Print the build identity and exit."`
	Ready      uint64        `hidden:"" help:"The pipe that a client waits at."`
}

func main() { os.Exit(run(os.Args[1:])) }

// run is the whole program but for the exit.
func run(args []string) int {
	var f flags
	parser, err := kong.New(&f,
		kong.Name("slipwayd"),
		kong.Description("The daemon of slipway. Clients start it when they need it."),
		kong.Vars{"idle": rpc.DefaultIdle.String()},
	)
	if err == nil {
		_, err = parser.Parse(args)
	}
	switch {
	case err != nil:
		return fail(2, err)
	case f.Idle < 0:
		return fail(2, fmt.Errorf("--idle can not be negative"))
	case f.Version:
		fmt.Print(strings.Replace(rpc.Version().String(), "slipway", "slipwayd", 1))
		return 0
	case f.Build:
		fmt.Println(rpc.OwnBuild())
		return 0
	}
	allowForTheDisk()
	git := gitwatch.NewWatching()
	defer git.Close()
	if err := rpc.RunDaemon(context.Background(), f.options(git)); err != nil {
		return fail(1, err)
	}
	return 0
}

// allowForTheDisk gives the runtime twice the processors that there are. One of them
// stays with a thread that waits for a sync until the runtime takes it back, and work
// for other Runs would wait with it: 64 busy Runs get half as much again done.
func allowForTheDisk() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2 * runtime.GOMAXPROCS(0))
	}
}

func fail(status int, err error) int {
	fmt.Fprintf(os.Stderr, "slipwayd: %v\n", err)
	return status
}

func (f flags) options(git *gitwatch.Git) rpc.DaemonOptions {
	keeper := engine.NewKeeper(engine.Options{Git: git})
	o := rpc.DaemonOptions{
		Socket: f.Socket, Idle: f.Idle, Foreground: f.Foreground,
		Supervision: rpc.Supervision(supervise.Read()),
		Runs:        func() (rpc.Runs, error) { return keeper, nil },
		Gauges:      func() rpc.Gauges { return gauges(keeper, git) },
	}
	if f.Ready != 0 {
		o.Ready = rpc.ReadyFile(uintptr(f.Ready))
	}
	return o
}
