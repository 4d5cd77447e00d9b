package deploy

import (
	"os/exec"
	"strings"
	"syscall"
)

// runContained runs a program without a console window. What it started itself is
// left to it.
func runContained(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true}
	return cmd.Run()
}

// isPathKey knows the ways in which Windows spells PATH.
func isPathKey(key string) bool { return strings.EqualFold(key, "PATH") }
