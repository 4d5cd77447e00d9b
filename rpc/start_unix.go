//go:build unix

package rpc

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// firstExtra is the descriptor that exec gives to the first of a command's extra
// files.
const firstExtra = 3

// detach makes the command a session of its own that holds nothing of this
// process's but the pipe.
func detach(cmd *exec.Cmd, ready *os.File) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.ExtraFiles = []*os.File{ready}
	cmd.Args = append(cmd.Args, "--ready", strconv.Itoa(firstExtra))
	return nil
}

// ReadyFile is the readiness pipe that `--ready` names.
func ReadyFile(descriptor uintptr) *os.File {
	syscall.CloseOnExec(int(descriptor)) // not for the programs that the daemon starts
	return os.NewFile(descriptor, "ready")
}
