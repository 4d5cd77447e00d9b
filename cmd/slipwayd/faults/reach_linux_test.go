package faults

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// processorTime is what this process and another one have used of the processors.
func processorTime(pid int) time.Duration {
	var own syscall.Rusage
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil || syscall.Getrusage(syscall.RUSAGE_SELF, &own) != nil {
		return 0
	}
	used := time.Duration(own.Utime.Nano() + own.Stime.Nano())
	_, after, _ := strings.Cut(string(text), ") ") // the name may hold anything
	fields := strings.Fields(after)
	const utime, cutime = 11, 14 // proc(5), counted from the state on
	for _, field := range fields[utime : cutime+1] {
		ticks, err := strconv.Atoi(field)
		if err != nil {
			return 0
		}
		used += time.Duration(ticks) * time.Second / 100
	}
	return used
}

// syncsOfOneSubmit counts how often a daemon synchronises for one submit; 1, as the
// contract has it, where it can not be counted.
func (h *house) syncsOfOneSubmit() float64 {
	const submits = 20
	log, said := filepath.Join(h.dir, "syncs"), filepath.Join(h.dir, "syncs-says")
	stderr, err := os.Create(said)
	if err != nil {
		h.t.Fatal(err)
	}
	defer stderr.Close()
	state, p := h.start(), dial(h.t, h.health().Socket)
	cmd := exec.Command("strace", "-f", "-e", "trace=fsync,fdatasync", "-o", log, "-p", strconv.Itoa(h.pid()))
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		return 1
	}
	waitFor(h.t, func() bool {
		text, err := os.ReadFile(said)
		return err == nil && bytes.Contains(text, []byte("ttach"))
	})
	for range submits {
		state, _ = p.submit(h, state)
	}
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait() // strace ends with the signal
	text, err := os.ReadFile(log)
	count := bytes.Count(text, []byte("sync("))
	if err != nil || count == 0 {
		return 1
	}
	return float64(count) / submits
}
