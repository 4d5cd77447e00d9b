package rpc

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"slipway/engine"
	"slipway/gitwatch"
	"slipway/rpc/supervise"
	"slipway/schema"
)

// TestMain lets the test program be the slipwayd of the tests: clients start it
// with the arguments of a daemon.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "--socket" || os.Args[1] == BuildFlag) {
		os.Exit(beDaemon(os.Args[1:]))
	}
	if len(os.Args) == 3 && os.Args[1] == beClientFlag {
		os.Exit(beClient(os.Args[2]))
	}
	os.Exit(m.Run())
}

// beClientFlag makes the test program a client of the socket that follows.
const beClientFlag = "--client-of"

// beClient prints what a daemon answers to a greeting.
func beClient(socket string) int {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	_, _ = io.WriteString(conn, helloLine) // may be refused already
	_, _ = io.Copy(os.Stdout, io.LimitReader(conn, 10))
	return 0
}

func beDaemon(args []string) int {
	flags := flag.NewFlagSet("slipwayd", flag.ExitOnError)
	socket := flags.String("socket", "", "")
	ready := flags.Uint64("ready", 0, "")
	build := flags.Bool("build", false, "")
	_ = flags.Parse(args)
	if *build {
		fmt.Println(OwnBuild())
		return 0
	}
	if os.Getenv("SLIPWAY_TEST_FAIL") != "" {
		// A program that dies before it is a daemon.
		fmt.Fprintln(ReadyFile(uintptr(*ready)), "no luck today")
		return 7
	}
	o := DaemonOptions{
		Socket: *socket, Idle: time.Minute, Supervision: Supervision(supervise.Read()),
		Runs: func() (Runs, error) { return &fakeRuns{}, nil },
	}
	if *ready != 0 {
		o.Ready = ReadyFile(uintptr(*ready))
	}
	if err := RunDaemon(context.Background(), o); err != nil {
		return 1
	}
	return 0
}

// fakeRuns answers with what it was asked. A hook replaces an answer.
type fakeRuns struct {
	start  func(context.Context, engine.Caller, engine.StartRequest) (*schema.ProtocolState, error)
	submit func(context.Context, engine.Caller, engine.SubmitRequest) (*schema.ProtocolState, error)
	status func(context.Context, engine.Caller, string) (*schema.RunStatus, error)
	resume func(engine.ResumeRequest)
	stop   func(engine.StopRequest)
	follow func(context.Context, engine.FollowRequest) (iter.Seq2[engine.RunEvent, error], error)
	closed bool
}

func state(run, summary string) *schema.ProtocolState {
	return &schema.ProtocolState{
		ContractVersion: schema.ContractVersion, RunID: run, State: schema.Ended, Summary: summary,
		Next: schema.NextNone(schema.UnavailablePlace("/w")),
	}
}

func (f *fakeRuns) Start(ctx context.Context, c engine.Caller, q engine.StartRequest) (*schema.ProtocolState, error) {
	if f.start != nil {
		return f.start(ctx, c, q)
	}
	return state(fmt.Sprint("pid-", os.Getpid()), q.Goal), nil
}

func (f *fakeRuns) Submit(ctx context.Context, c engine.Caller, q engine.SubmitRequest) (*schema.ProtocolState, error) {
	if f.submit != nil {
		return f.submit(ctx, c, q)
	}
	return state(q.Run, string(q.Outcome)), nil
}

func (f *fakeRuns) Answer(_ context.Context, _ engine.Caller, q engine.AnswerRequest) (*schema.ProtocolState, error) {
	return state(q.Run, q.Text), nil
}

func (f *fakeRuns) Skip(_ context.Context, _ engine.Caller, q engine.SkipRequest) (*schema.ProtocolState, error) {
	return state(q.Run, q.Action), nil
}

func (f *fakeRuns) Resume(_ context.Context, _ engine.Caller, q engine.ResumeRequest) (*schema.ProtocolState, error) {
	if f.resume != nil {
		f.resume(q)
	}
	return state(q.Run, ""), nil
}

func (f *fakeRuns) Stop(_ context.Context, _ engine.Caller, q engine.StopRequest) (*schema.ProtocolState, error) {
	if f.stop != nil {
		f.stop(q)
	}
	return state(q.Run, ""), nil
}

func (f *fakeRuns) Status(ctx context.Context, c engine.Caller, run string) (*schema.RunStatus, error) {
	if f.status != nil {
		return f.status(ctx, c, run)
	}
	return &schema.RunStatus{ID: run, Goal: c.Root}, nil
}

func (f *fakeRuns) Listing(context.Context, engine.Caller) (engine.Listing, error) {
	return engine.Listing{[]byte(`{"runs":[`), []byte(`]}`)}, nil
}

func (f *fakeRuns) Material(_ context.Context, _ engine.Caller, q engine.MaterialRequest) (*schema.ActionMaterial, error) {
	return &schema.ActionMaterial{RunID: q.Run, ActionID: q.Action, Section: schema.MaterialSection{Key: q.Section}}, nil
}

func (f *fakeRuns) Section(_ context.Context, _ engine.Caller, q engine.SectionRequest) (*schema.PinnedMaterial, error) {
	return &schema.PinnedMaterial{RunID: q.Run, Section: schema.MaterialSection{Key: q.Section}}, nil
}

func (f *fakeRuns) Workspace(_ context.Context, c engine.Caller) (schema.WorkspaceIdentity, error) {
	return schema.NewWorkspaceIdentity(c.Root, c.Root+"/.git", c.Root+"/.git"), nil
}

func (f *fakeRuns) Log(_ context.Context, _ engine.Caller, _ string, after int64, limit int) (*engine.EventLog, error) {
	return &engine.EventLog{Events: []engine.LoggedEvent{{Sequence: after, Summary: fmt.Sprint(limit)}}}, nil
}

func (f *fakeRuns) Observe(context.Context, engine.Caller) (*engine.Seen, error) {
	return &engine.Seen{Observation: &schema.Observation{Head: schema.UnbornHead}, Mode: gitwatch.Scanned}, nil
}

func (f *fakeRuns) Follow(ctx context.Context, _ engine.Caller, q engine.FollowRequest) (iter.Seq2[engine.RunEvent, error], error) {
	if f.follow != nil {
		return f.follow(ctx, q)
	}
	return func(func(engine.RunEvent, error) bool) { <-ctx.Done() }, nil
}

func (f *fakeRuns) FollowWorkspace(ctx context.Context, c engine.Caller) (iter.Seq2[*schema.Observation, error], error) {
	return func(yield func(*schema.Observation, error) bool) {
		if yield(&schema.Observation{SnapshotHash: schema.Digest(c.Root), PathCount: 3}, nil) {
			<-ctx.Done()
		}
	}, nil
}

func (f *fakeRuns) Close(context.Context) error {
	f.closed = true
	return nil
}

// shortTempDir is a folder with a path short enough for sockets.
func shortTempDir(t testing.TB) string {
	dir, err := os.MkdirTemp("", "swy-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// testServer is a server in this process.
type testServer struct {
	*Server
	socket string
	log    *strings.Builder // to be read when the server has ended
	served chan error
}

func serve(t testing.TB, runs Runs, change ...func(*ServerOptions)) *testServer {
	s := &testServer{socket: filepath.Join(shortTempDir(t), "d1.sock"), log: &strings.Builder{}, served: make(chan error, 1)}
	o := ServerOptions{Runs: runs, Log: slog.New(slog.NewTextHandler(s.log, nil)), Build: Build{Version: "v1.0.0"}, Socket: s.socket}
	for _, c := range change {
		c(&o)
	}
	s.Server = NewServer(o)
	l, err := net.Listen("unix", s.socket)
	if err != nil {
		t.Fatal(err)
	}
	go func() { s.served <- s.Serve(l) }()
	t.Cleanup(func() { s.end(t) })
	return s
}

// end drains the server; the second time there is nothing to do.
func (s *testServer) end(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), DrainTime)
	defer cancel()
	if err := s.Drain(ctx); err != nil {
		t.Errorf("drain: %v", err)
	}
	select {
	case err := <-s.served:
		if err != nil {
			t.Errorf("serve: %v", err)
		}
		s.served <- nil
	case <-ctx.Done():
		t.Error("the server goes on accepting")
	}
}

// raw is a connection that sends and receives bytes.
type raw struct {
	t      testing.TB
	conn   *net.UnixConn
	reader *bufio.Reader
}

// testPatience bounds every wait of a test that would otherwise hang.
const testPatience = 20 * time.Second

func dialRaw(t testing.TB, socket string) *raw {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(testPatience))
	return &raw{t, conn.(*net.UnixConn), bufio.NewReader(conn)}
}

func (r *raw) send(text string) {
	r.t.Helper()
	if _, err := io.WriteString(r.conn, text); err != nil {
		r.t.Fatal(err)
	}
}

// reply is an answer as a raw client sees it.
type reply struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

func (r reply) code() int {
	if r.Error == nil {
		return 0
	}
	return r.Error.Code
}

// line reads an answer in newline framing.
func (r *raw) line() reply {
	r.t.Helper()
	text, err := r.reader.ReadString('\n')
	if err != nil {
		r.t.Fatalf("no answer: %v (%q)", err, text)
	}
	return r.decode([]byte(text))
}

// block reads an answer in header framing.
func (r *raw) block() reply {
	r.t.Helper()
	var length int
	if _, err := fmt.Fscanf(r.reader, "Content-Length: %d\r\n\r\n", &length); err != nil {
		r.t.Fatalf("no header: %v", err)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r.reader, body); err != nil {
		r.t.Fatal(err)
	}
	return r.decode(body)
}

func (r *raw) decode(text []byte) reply {
	r.t.Helper()
	var a reply
	if err := json.Unmarshal(text, &a); err != nil {
		r.t.Fatalf("%q: %v", text, err)
	}
	return a
}

// ended checks that the server closes the connection and says nothing more.
func (r *raw) ended() {
	r.t.Helper()
	rest, err := io.ReadAll(r.reader)
	if len(rest) > 0 || os.IsTimeout(err) {
		r.t.Fatalf("the connection goes on: %q, %v", rest, err)
	}
}

const helloLine = `{"jsonrpc":"2.0","id":"hello","method":"daemon/hello","params":{"client":"test","version":"1","build":"-","rpc_version":1}}` + "\n"

// greet introduces the connection in newline framing.
func (r *raw) greet() *raw {
	r.t.Helper()
	r.send(helloLine)
	if a := r.line(); a.Error != nil {
		r.t.Fatal(a.Error.Message)
	}
	return r
}

func framedText(body string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}
