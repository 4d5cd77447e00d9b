package supervise

import (
	"net"
	"os"

	"github.com/coreos/go-systemd/v22/activation"
	systemd "github.com/coreos/go-systemd/v22/daemon"
)

// Read reads what systemd gave this process.
func Read() Given {
	g := Given{Listener: passedListener()}
	if every, err := systemd.SdWatchdogEnabled(false); err == nil {
		g.Watchdog = every
	}
	if os.Getenv("NOTIFY_SOCKET") != "" {
		g.Notify = func(state string) {
			_, _ = systemd.SdNotify(false, state) // the manager finds out by itself whether the daemon lives
		}
	}
	return g
}

// passedListener is the first socket of a socket unit; there is no use for more.
func passedListener() net.Listener {
	listeners, err := activation.Listeners()
	if err != nil {
		return nil
	}
	var first net.Listener
	for _, l := range listeners {
		switch {
		case l == nil: // not a listening socket
		case first == nil:
			first = l
		default:
			l.Close()
		}
	}
	return first
}
