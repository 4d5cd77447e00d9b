package rpc

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Prometheus gives the figures in the text format of Prometheus.
func (h *Health) Prometheus() string {
	var text strings.Builder
	metric(&text, "up", "gauge", oneIf(h.Running))
	metric(&text, "daemon_mode", "gauge", oneIf(h.Mode == ModeDaemon))
	metric(&text, "problems", "gauge", len(h.Problems))
	header(&text, "problem", "gauge")
	for _, p := range h.Problems {
		fmt.Fprintf(&text, "slipway_problem{code=%q} 1\n", p.Code)
	}
	if f := h.Figures; f != nil {
		f.process(&text)
		f.calls(&text)
		f.worktrees(&text)
	}
	return text.String()
}

func oneIf(holds bool) int {
	if holds {
		return 1
	}
	return 0
}

// process writes what the daemon is and holds.
func (f *Figures) process(text *strings.Builder) {
	header(text, "build_info", "gauge")
	fmt.Fprintf(text, "slipway_build_info{version=%q,build=%q,pid=\"%d\"} 1\n", f.Version, f.Build, f.PID)
	metric(text, "start_time_seconds", "gauge", f.StartedAt.Unix())
	metric(text, "uptime_seconds", "gauge", f.UptimeS)
	metric(text, "connections", "gauge", f.Connections)
	metric(text, "subscriptions", "gauge", f.Subscriptions)
	metric(text, "runs_cached", "gauge", f.RunsCached)
	metric(text, "runs_active", "gauge", f.RunsActive)
	metric(text, "resident_memory_bytes", "gauge", f.RSSBytes)
	metric(text, "goroutines", "gauge", f.Goroutines)
	metric(text, "open_files", "gauge", f.OpenFiles)
	header(text, "journal_sync_microseconds", "summary")
	quantiles(text, "journal_sync_microseconds", "", f.JournalSyncP50US, f.JournalSyncP99US)
}

// calls writes what the daemon was asked.
func (f *Figures) calls(text *strings.Builder) {
	metric(text, "calls_total", "counter", f.CallsTotal)
	metric(text, "calls_failed_total", "counter", f.CallsFailed)
	metric(text, "calls_in_flight", "gauge", f.CallsInFlight)
	metric(text, "oldest_call_milliseconds", "gauge", f.OldestCallMS)
	if f.LastError != nil {
		header(text, "last_error_time_seconds", "gauge")
		fmt.Fprintf(text, "slipway_last_error_time_seconds{code=%q} %d\n", f.LastError.Code, f.LastError.At.Unix())
	}
	header(text, "call_microseconds", "summary")
	for _, name := range slices.Sorted(maps.Keys(f.Methods)) {
		m := f.Methods[name]
		of := fmt.Sprintf("method=%q,", name)
		quantiles(text, "call_microseconds", of, m.P50US, m.P99US)
		fmt.Fprintf(text, "slipway_call_microseconds_count{method=%q} %d\n", name, m.Count)
	}
}

// worktrees writes how worktrees are looked at, one family of figures after the
// other, as the format wants it.
func (f *Figures) worktrees(text *strings.Builder) {
	metric(text, "worktrees", "gauge", len(f.Worktrees))
	for _, family := range []struct {
		name, kind string
		value      func(Worktree) int64
	}{
		{"worktree_watched", "gauge", func(w Worktree) int64 { return int64(oneIf(w.Mode == "watch")) }},
		{"worktree_directories", "gauge", func(w Worktree) int64 { return int64(w.Directories) }},
		{"worktree_events_total", "counter", func(w Worktree) int64 { return w.Events }},
		{"worktree_overflows_total", "counter", func(w Worktree) int64 { return w.Overflows }},
		{"worktree_rescans_total", "counter", func(w Worktree) int64 { return w.Rescans }},
		{"worktree_last_observation_microseconds", "gauge", func(w Worktree) int64 { return w.LastObservationUS }},
	} {
		header(text, family.name, family.kind)
		for _, w := range f.Worktrees {
			fmt.Fprintf(text, "slipway_%s{root=%s} %d\n", family.name, label(w.Root), family.value(w))
		}
	}
}

// label quotes a value as the format wants it: three characters are escaped.
func label(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}

func header(w io.Writer, name, kind string) { fmt.Fprintf(w, "# TYPE slipway_%s %s\n", name, kind) }

func metric[N int | int64](w io.Writer, name, kind string, value N) {
	header(w, name, kind)
	fmt.Fprintf(w, "slipway_%s %d\n", name, value)
}

func quantiles(w io.Writer, name, label string, p50, p99 int64) {
	fmt.Fprintf(w, "slipway_%s{%squantile=\"0.5\"} %d\n", name, label, p50)
	fmt.Fprintf(w, "slipway_%s{%squantile=\"0.99\"} %d\n", name, label, p99)
}
