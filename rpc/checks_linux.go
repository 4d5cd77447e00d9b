package rpc

import (
	"os"
	"strconv"
	"strings"
)

// watchLimit is the number of inotify watches that a user may set.
func watchLimit() (int, bool) {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	return n, err == nil
}
