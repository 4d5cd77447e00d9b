package rpc

import (
	"context"
	"os"
	"runtime"
	"sync"
	"time"

	"slipway/engine"
	"slipway/schema"
)

// Health is what `slipway daemon status --json` prints (daemon.md, section 6).
type Health struct {
	Running         bool      `json:"running"`
	Mode            string    `json:"mode"` // daemon or embedded: what a command would use here
	ModeReason      string    `json:"mode_reason,omitempty"`
	Socket          string    `json:"socket"`
	ClientBuild     string    `json:"client_build,omitempty"`
	RPCVersion      int       `json:"rpc_version"`
	ContractVersion int       `json:"contract_version"`
	*Figures                  // nil where no daemon runs
	Problems        []Problem `json:"problems"`
}

// Figures are what a running daemon knows about itself.
type Figures struct {
	PID           int                      `json:"pid"`
	Version       string                   `json:"version"`
	Build         string                   `json:"build"`
	StartedAt     time.Time                `json:"started_at"`
	UptimeS       int64                    `json:"uptime_s"`
	Connections   int                      `json:"connections"`
	Subscriptions int                      `json:"subscriptions"`
	CallsTotal    int64                    `json:"calls_total"`
	CallsFailed   int64                    `json:"calls_failed"`
	CallsInFlight int                      `json:"calls_in_flight"`
	OldestCallMS  int64                    `json:"oldest_call_ms"`
	Methods       map[string]MethodFigures `json:"methods"`
	Gauges
	RSSBytes   int64      `json:"rss_bytes"`
	Goroutines int        `json:"goroutines"`
	OpenFiles  int        `json:"open_files"`
	LastError  *LastError `json:"last_error,omitempty"`
}

// MethodFigures are about the calls of one method; times are in microseconds.
type MethodFigures struct {
	Count int64 `json:"count"`
	P50US int64 `json:"p50_us"`
	P99US int64 `json:"p99_us"`
}

// LastError is the last failed call.
type LastError struct {
	Code string    `json:"code"`
	At   time.Time `json:"at"`
}

// Gauges are the figures of the engine behind a daemon.
type Gauges struct {
	RunsCached       int        `json:"runs_cached"`
	RunsActive       int        `json:"runs_active"`
	Worktrees        []Worktree `json:"worktrees"`
	JournalSyncP50US int64      `json:"journal_sync_p50_us"`
	JournalSyncP99US int64      `json:"journal_sync_p99_us"`
	Problems         []Problem  `json:"-"` // become those of the daemon
}

// Worktree says how one worktree is looked at.
type Worktree struct {
	Root              string `json:"root"`
	Mode              string `json:"mode"` // watch or scan
	Reason            string `json:"reason,omitempty"`
	Directories       int    `json:"directories"`
	Events            int64  `json:"events"`
	Overflows         int64  `json:"overflows"`
	Rescans           int64  `json:"rescans"`
	LastObservationUS int64  `json:"last_observation_us"`
}

type noParams struct{}

func health(_ context.Context, t target, _ noParams) (any, error) {
	return t.session.server.health(), nil
}

func (s *Server) health() Health {
	gauges := s.gauges()
	if gauges.Worktrees == nil {
		gauges.Worktrees = []Worktree{}
	}
	f := &Figures{
		PID: os.Getpid(), Version: s.build.Version, Build: s.build.String(),
		StartedAt: s.started.UTC(), UptimeS: int64(time.Since(s.started).Seconds()),
		Gauges: gauges, RSSBytes: residentBytes(), Goroutines: runtime.NumGoroutine(), OpenFiles: openFiles(),
	}
	s.mu.Lock()
	f.Connections = len(s.sessions)
	s.mu.Unlock()
	f.Subscriptions = int(s.subscriptions.Load())
	s.calls.fill(f)
	return Health{
		Running: true, Mode: ModeDaemon, Socket: s.socket,
		RPCVersion: rpcVersion, ContractVersion: schema.ContractVersion,
		Figures: f, Problems: append(f.problems(maxOpenFiles()), gauges.Problems...),
	}
}

// callFigures count the calls of a server.
type callFigures struct {
	mu       sync.Mutex
	running  map[*call]struct{}
	total    int64
	failed   int64
	last     *LastError
	byMethod map[string]*engine.Latencies
}

func (c *callFigures) init() {
	c.running = make(map[*call]struct{})
	c.byMethod = make(map[string]*engine.Latencies)
}

func (c *callFigures) began(k *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total++
	c.running[k] = struct{}{}
}

// ended counts a call out; code is empty where it succeeded.
func (c *callFigures) ended(k *call, method string, elapsed time.Duration, code string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, k)
	l := c.byMethod[method]
	if l == nil {
		l = new(engine.Latencies)
		c.byMethod[method] = l
	}
	l.Add(elapsed)
	if code != "" {
		c.fail(code)
	}
}

// refused counts a message that became no call.
func (c *callFigures) refused(code string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total++
	c.fail(code)
}

func (c *callFigures) fail(code string) {
	c.failed++
	c.last = &LastError{code, time.Now().UTC()}
}

func (c *callFigures) fill(f *Figures) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.CallsTotal, f.CallsFailed, f.CallsInFlight, f.LastError = c.total, c.failed, len(c.running), c.last
	for k := range c.running {
		f.OldestCallMS = max(f.OldestCallMS, time.Since(k.began).Milliseconds())
	}
	f.Methods = make(map[string]MethodFigures, len(c.byMethod))
	for name, l := range c.byMethod {
		f.Methods[name] = MethodFigures{l.Count, l.Quantile(0.50), l.Quantile(0.99)}
	}
}
