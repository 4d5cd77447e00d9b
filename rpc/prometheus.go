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
	up := 0
	if h.Running {
		up = 1
	}
	metric(&text, "up", "gauge", up)
	f := h.Figures
	if f == nil {
		return text.String()
	}
	metric(&text, "uptime_seconds", "gauge", f.UptimeS)
	metric(&text, "connections", "gauge", f.Connections)
	metric(&text, "subscriptions", "gauge", f.Subscriptions)
	metric(&text, "calls_total", "counter", f.CallsTotal)
	metric(&text, "calls_failed_total", "counter", f.CallsFailed)
	metric(&text, "calls_in_flight", "gauge", f.CallsInFlight)
	metric(&text, "oldest_call_milliseconds", "gauge", f.OldestCallMS)
	metric(&text, "runs_cached", "gauge", f.RunsCached)
	metric(&text, "runs_active", "gauge", f.RunsActive)
	metric(&text, "worktrees", "gauge", len(f.Worktrees))
	metric(&text, "resident_memory_bytes", "gauge", f.RSSBytes)
	metric(&text, "goroutines", "gauge", f.Goroutines)
	metric(&text, "open_files", "gauge", f.OpenFiles)
	metric(&text, "problems", "gauge", len(h.Problems))
	header(&text, "journal_sync_microseconds", "summary")
	quantiles(&text, "journal_sync_microseconds", "", f.JournalSyncP50US, f.JournalSyncP99US)
	header(&text, "call_microseconds", "summary")
	for _, name := range slices.Sorted(maps.Keys(f.Methods)) {
		m := f.Methods[name]
		label := fmt.Sprintf("method=%q,", name)
		quantiles(&text, "call_microseconds", label, m.P50US, m.P99US)
		fmt.Fprintf(&text, "slipway_call_microseconds_count{method=%q} %d\n", name, m.Count)
	}
	return text.String()
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
