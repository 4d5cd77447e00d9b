package rpc

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach makes the command one without a console that holds nothing of this
// process's but the pipe.
func detach(cmd *exec.Cmd, ready *os.File) error {
	handle := windows.Handle(ready.Fd())
	if err := windows.SetHandleInformation(handle, windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow:                 true,
		CreationFlags:              windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP,
		AdditionalInheritedHandles: []syscall.Handle{syscall.Handle(handle)},
	}
	cmd.Args = append(cmd.Args, "--ready", strconv.FormatUint(uint64(handle), 10))
	return nil
}

// ReadyFile is the readiness pipe that `--ready` names.
func ReadyFile(handle uintptr) *os.File {
	// Not for the programs that the daemon starts.
	_ = windows.SetHandleInformation(windows.Handle(handle), windows.HANDLE_FLAG_INHERIT, 0)
	return os.NewFile(handle, "ready")
}
