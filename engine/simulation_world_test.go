package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"slipway/engine"
	"slipway/journal"
	"slipway/journal/crashfs"
	"slipway/journal/faultfs"
)

// world is a simulated machine: one disk, some processes, and clients that use them.
// It lives in a synctest bubble, so its clock is not the real one, and it decides
// itself who takes the next step: every file operation of every process waits until
// it is let through. The same seed gives the same life.
type world struct {
	t      *testing.T
	seed   uint64
	random *rand.Rand
	disk   *crashfs.Disk
	ids    int

	processes []*simProcess // alive
	clients   []*client
	ledger    *ledger

	mu      sync.Mutex
	waiting []*waiter
	actors  map[int64]string // names of the goroutines of clients, by their numbers
	active  int              // clients with an operation under way
	trace   []string
	hash    uint64

	violation string // the first one; empty while all is well
}

// waiter is a file operation that waits to be let through.
type waiter struct {
	process  *simProcess
	actor    string
	kind, at string
	letIn    chan error
}

// simProcess is a daemon, or a command in embedded mode.
type simProcess struct {
	name     string
	files    *crashfs.Process
	keeper   *engine.Keeper
	embedded bool
	dead     bool
	faulted  bool // an operation was made to fail in it since it was idle last
	busy     int  // clients that it works for
}

// stops are the operations that wait: all that change something and, of those that
// look, the ones whose moment matters. What stands at a name is looked at so often
// that nothing would be left of the time.
var stops = map[string]bool{
	"mkdir": true, "create": true, "writeat": true, "truncate": true, "sync": true, "rename": true, "publish": true, "remove": true, "removedir": true,
	"trylock": true, "readat": true, "names": true,
}

const (
	simClients = 4
	simDaemons = 2
	simSteps   = 300 // most steps of one life
)

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 7)), disk: crashfs.New(testWorkspace.GitCommonDir), actors: map[int64]string{}}
	w.ledger = &ledger{world: w, runs: map[string]*simRun{}}
	for i := range simClients {
		w.clients = append(w.clients, &client{world: w, name: "client " + strconv.Itoa(i), random: rand.New(rand.NewPCG(seed, uint64(i)+100))})
	}
	for i := range simDaemons {
		w.startProcess("daemon "+strconv.Itoa(i), false)
	}
	return w
}

func (w *world) startProcess(name string, embedded bool) *simProcess {
	p := &simProcess{name: name, files: w.disk.Process(), embedded: embedded}
	p.files.Before = func(kind, at string) error {
		if !stops[kind] {
			return nil
		}
		return w.pass(p, kind, at)
	}
	p.keeper = engine.NewKeeper(engine.Options{
		Git: &paperGit{worktree: clean}, FS: p.files, Embedded: embedded,
		ID: func() string {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.ids++
			return actionID(w.ids)
		},
	})
	w.processes = append(w.processes, p)
	return p
}

// note adds a line to the trace of the life.
func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noted(fmt.Sprintf(format, args...))
}

func (w *world) noted(line string) {
	h := fnv.New64a()
	fmt.Fprint(h, w.hash, line)
	w.hash = h.Sum64()
	w.trace = append(w.trace, line)
}

// wrong notes the first violation; it ends the life.
func (w *world) wrong(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.violation == "" {
		w.violation = fmt.Sprintf(format, args...) + "\n" + strings.Join(w.trace[max(0, len(w.trace)-80):], "\n")
	}
}

func (w *world) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.violation != ""
}

// goroutine is the number of the calling one: the only way to tell who asks for a
// file operation, because a Keeper works for many.
func goroutine() int64 {
	var stack [64]byte
	text := strings.TrimPrefix(string(stack[:runtime.Stack(stack[:], false)]), "goroutine ")
	number, _, _ := strings.Cut(text, " ")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// pass waits until the operation is let through.
func (w *world) pass(p *simProcess, kind, at string) error {
	me := &waiter{process: p, kind: kind, at: at, letIn: make(chan error)}
	number := goroutine()
	w.mu.Lock()
	me.actor = cmp.Or(w.actors[number], "background of "+p.name)
	w.waiting = append(w.waiting, me)
	w.mu.Unlock()
	return <-me.letIn
}

// spawn lets a client's operation run as an actor.
func (w *world) spawn(name string, work func()) {
	w.mu.Lock()
	w.active++
	w.mu.Unlock()
	go func() {
		number := goroutine()
		w.mu.Lock()
		w.actors[number] = name
		w.mu.Unlock()
		work()
		w.mu.Lock()
		delete(w.actors, number)
		w.active--
		w.mu.Unlock()
	}()
}

// settle waits until nobody can go on without being let through, and lists who
// waits, in an order that does not depend on chance.
func (w *world) settle() (waiting []*waiter, active int) {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortStableFunc(w.waiting, func(a, b *waiter) int {
		return cmp.Or(cmp.Compare(a.actor, b.actor), cmp.Compare(a.process.name, b.process.name), cmp.Compare(a.at, b.at))
	})
	return slices.Clone(w.waiting), w.active
}

// let lets a file operation through, with an error instead or not.
func (w *world) let(one *waiter, err error) {
	w.mu.Lock()
	w.waiting = slices.DeleteFunc(w.waiting, func(other *waiter) bool { return other == one })
	line := fmt.Sprintf("%s: %s: %s %s", one.process.name, one.actor, one.kind, one.at)
	if err != nil {
		line += ": " + err.Error()
	}
	w.noted(line)
	w.mu.Unlock()
	one.letIn <- err
}

// live is one life: operations, deaths, power cuts and faults in the order that the
// seed wants, then peace, and the final judgement.
func (w *world) live() {
	for steps := w.random.IntN(simSteps - 20); steps < simSteps && !w.failed(); {
		waiting, active := w.settle()
		switch chance := w.random.IntN(1000); {
		case chance < 3:
			w.powerCut()
		case chance < 6:
			w.killOne()
		case chance < 40 || len(waiting) == 0 && active < simClients:
			w.begin()
		case chance < 60 || len(waiting) == 0:
			w.pause()
		default:
			steps++
			one := waiting[w.random.IntN(len(waiting))]
			w.let(one, w.mischief(one))
		}
	}
	w.note("peace")
	w.finishAll(nil)
	w.ledger.judge("in the end")
	w.retire()
	w.ledger.judgeProjections()
}

// pause lets time go by, sometimes more than anybody waits for.
func (w *world) pause() {
	d := time.Duration(1+w.random.IntN(20)) * time.Millisecond
	switch w.random.IntN(40) {
	case 0:
		d = 2 * journal.DefaultLockWait
	case 1, 2:
		d = time.Second
	}
	time.Sleep(d)
}

// begin lets an idle client do something.
func (w *world) begin() {
	for _, i := range w.random.Perm(len(w.clients)) {
		if c := w.clients[i]; !c.busy {
			c.begin()
			return
		}
	}
}

// mischief chooses whether an operation fails, and how.
func (w *world) mischief(one *waiter) error {
	const odds = 300
	if w.random.IntN(odds) > 0 {
		return nil
	}
	one.process.faulted = true
	switch chance := w.random.IntN(4); {
	case chance == 0 && one.kind == "writeat":
		return &faultfs.Short{Bytes: w.random.IntN(3000), Err: syscall.ENOSPC}
	case chance == 1 && len(kindsOfFaults(one.kind)) > 1:
		return &faultfs.Done{Err: syscall.EIO}
	case chance == 2 && one.kind == "sync":
		return crashfs.ErrForgets
	}
	return syscall.EIO
}

// killOne kills a process; a daemon is followed by a new one.
func (w *world) killOne() {
	p := w.processes[w.random.IntN(len(w.processes))]
	w.note("%s is killed", p.name)
	w.kill(p)
	w.drain(func(one *waiter) bool { return one.process == p })
	if !p.embedded {
		w.startProcess(p.name+"'", false)
	}
	if w.random.IntN(4) == 0 {
		w.ledger.judge("after a death")
	}
}

func (w *world) kill(p *simProcess) {
	p.files.Kill()
	p.dead = true
	w.processes = slices.DeleteFunc(w.processes, func(other *simProcess) bool { return other == p })
}

// drain lets through what waits as long as which wants it, and whatever that leads
// to, until nothing of it waits any more.
func (w *world) drain(which func(*waiter) bool) {
	for {
		waiting, _ := w.settle()
		i := slices.IndexFunc(waiting, which)
		if i < 0 {
			return
		}
		w.let(waiting[i], nil)
	}
}

// powerCut ends all processes; the disk keeps what chance wants of what was not
// durable.
func (w *world) powerCut() {
	cut := w.disk.Cut(2)
	for _, p := range slices.Clone(w.processes) {
		w.kill(p)
	}
	w.finishAll(nil)
	state := cut.Random(w.random)
	w.note("the power is cut: %s", state.Name)
	w.disk = state.Disk // with the fate of the old one
	w.ledger.judge("after a power cut")
	for i := range simDaemons {
		w.startProcess(fmt.Sprintf("daemon %d after cut at %d", i, len(w.trace)), false)
	}
}

// finishAll lets everything go on until no client has anything under way.
func (w *world) finishAll(fault error) {
	for {
		waiting, active := w.settle()
		switch {
		case len(waiting) > 0:
			w.let(waiting[0], fault)
		case active > 0:
			time.Sleep(5 * time.Millisecond)
		default:
			return
		}
	}
}

// retire ends the daemons the way they end themselves.
func (w *world) retire() {
	for _, p := range slices.Clone(w.processes) {
		w.spawn("end of "+p.name, func() {
			if err := p.keeper.Close(context.Background()); err != nil {
				w.note("%s: its end: %v", p.name, err)
			}
		})
		w.finishAll(nil)
		w.kill(p)
	}
	time.Sleep(time.Minute)
	w.finishAll(nil)
}
