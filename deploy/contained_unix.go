//go:build !windows

package deploy

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// runContained runs a program in a process group of its own, which is killed as a
// whole when the context of cmd ends.
func runContained(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killGroup(cmd.Process.Pid) }
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		// It ended, but a child of it still holds the pipe and thus the group.
		_ = killGroup(cmd.Process.Pid)
	}
	return err
}

func killGroup(leader int) error {
	err := syscall.Kill(-leader, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

func isPathKey(string) bool { return false }
