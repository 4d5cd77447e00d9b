//go:build unix

package gitwatch

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// runContained runs cmd in a process group of its own. When the context of cmd
// ends, the whole group is killed.
func runContained(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killGroup(cmd.Process.Pid) }
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		// Git ended, but one of its children still holds a pipe. As long as that
		// child lives, the system gives the group's number to nobody else.
		_ = killGroup(cmd.Process.Pid)
	}
	return err
}

func killGroup(leader int) error {
	if err := syscall.Kill(-leader, syscall.SIGKILL); errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	} else {
		return err
	}
}
