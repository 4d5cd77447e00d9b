package rpc

import (
	"regexp"
	"strings"
	"testing"
)

func TestPrometheusText(t *testing.T) {
	if got := (&Health{Mode: ModeEmbedded}).Prometheus(); !strings.Contains(got, "slipway_up 0\n") || strings.Contains(got, "calls") {
		t.Errorf("without a daemon:\n%s", got)
	}
	h := &Health{Running: true, Problems: []Problem{{Code: "sync_slow"}}, Figures: &Figures{
		Gauges:     Gauges{Worktrees: []Worktree{{Root: `/w "1"\`, Mode: "watch", Events: 7}, {Root: "/v", Mode: "scan"}}},
		LastError:  &LastError{Code: "run_busy"},
		CallsTotal: 5, Methods: map[string]MethodFigures{"run/list": {3, 20, 90}, "run/start": {2, 30, 40}},
	}}
	text := h.Prometheus()
	line := regexp.MustCompile(`^(# TYPE slipway_\w+ (gauge|counter|summary)|slipway_\w+(\{\w+="([^"\\]|\\.)*"(,\w+="[^"]*")*\})? -?\d+)$`)
	for l := range strings.Lines(text) {
		if !line.MatchString(strings.TrimSuffix(l, "\n")) {
			t.Errorf("line %q", l)
		}
	}
	for _, want := range []string{
		"slipway_up 1\n", "slipway_calls_total 5\n", `slipway_call_microseconds{method="run/list",quantile="0.99"} 90` + "\n",
		`slipway_call_microseconds_count{method="run/start"} 2` + "\n", `slipway_problem{code="sync_slow"} 1` + "\n",
		`slipway_worktree_watched{root="/w \"1\"\\"} 1` + "\n", `slipway_worktree_events_total{root="/w \"1\"\\"} 7` + "\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}
