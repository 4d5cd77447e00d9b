package rpc

import (
	"fmt"
	"path/filepath"

	"slipway/deploy"
)

// checkName is the group of the checks about the daemon in a doctor report.
const checkName = "daemon"

// minWatches is the number of inotify watches below which a larger repository is
// scanned instead of watched.
const minWatches = 65_536

// Checks are what doctor says about the way to the daemon: what [Status] found, or
// why it found nothing (adapters.md, section 11; daemon.md, 3.4).
func Checks(h *Health, err error) []deploy.Check {
	if err != nil {
		return []deploy.Check{check("daemon_unreachable", deploy.StatusWarning, err.Error())}
	}
	checks := []deploy.Check{reachCheck(h), modeCheck(h), buildCheck(h)}
	if h.Socket != "" {
		checks = append(checks, check("runtime_folder", deploy.StatusOK, "the socket's folder is "+filepath.Dir(h.Socket)))
	}
	if n, known := watchLimit(); known {
		checks = append(checks, watchCheck(n))
	}
	for _, p := range h.Problems {
		if !aboutBuild(p) {
			checks = append(checks, check("daemon_"+p.Code, deploy.StatusWarning, p.Message+"; "+p.Remedy))
		}
	}
	return checks
}

func check(code string, status deploy.CheckStatus, detail string) deploy.Check {
	return deploy.Check{Code: code, Status: status, HostID: deploy.NoHost, Name: checkName, Detail: detail}
}

func reachCheck(h *Health) deploy.Check {
	if !h.Running {
		return check("daemon_not_running", deploy.StatusOK, "no daemon runs; a command starts it when it needs one")
	}
	return check("daemon_running", deploy.StatusOK, fmt.Sprintf("process %d at %s", h.PID, h.Socket))
}

func modeCheck(h *Health) deploy.Check {
	if h.Mode == ModeDaemon {
		return check("daemon_mode", deploy.StatusOK, "commands go to the daemon")
	}
	return check("daemon_mode", deploy.StatusWarning, "commands run in their own process here: "+h.ModeReason)
}

func aboutBuild(p Problem) bool { return p.Code == problemOlderBuild || p.Code == problemOlderService }

func buildCheck(h *Health) deploy.Check {
	for _, p := range h.Problems {
		if aboutBuild(p) {
			return check("daemon_build", deploy.StatusWarning, p.Message+"; "+p.Remedy)
		}
	}
	return check("daemon_build", deploy.StatusOK, "this program would start "+h.ClientBuild)
}

func watchCheck(limit int) deploy.Check {
	if limit < minWatches {
		return check("watch_limit", deploy.StatusWarning, fmt.Sprintf(
			"a user may set %d inotify watches; larger repositories are scanned instead of watched: raise fs.inotify.max_user_watches", limit))
	}
	return check("watch_limit", deploy.StatusOK, fmt.Sprintf("a user may set %d inotify watches", limit))
}
