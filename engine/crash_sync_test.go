package engine_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"slipway/engine"
	"slipway/journal/crashfs"
	"slipway/journal/faultfs"
	"slipway/schema"
)

// syncSite is a place in package journal that synchronises something.
type syncSite struct {
	function string // "(*Writer).commit"
	what     string // "w.run.dir"
}

func (s syncSite) String() string { return s.function + ": " + s.what + ".Sync()" }

// withoutEffect are the syncs without which nothing is lost as long as all others
// are there. The directory of a new Run is synchronised for its lock, for its
// materials and with its record; the contract wants all of that (storage.md, sections
// 6, 7 and 8), and the last is enough. journal.TestFaultsOfAStart misses them.
var withoutEffect = map[syncSite]bool{
	{"openLockFile", "run.dir"}:              true,
	{"(*Writer).openMaterials", "w.run.dir"}: true,
	{"(*Writer).publish", "w.run.dir"}:       true,
}

// syncSites finds all places in the source of package journal, by file and line.
func syncSites(t *testing.T) map[string]syncSite {
	t.Helper()
	sites := map[string]syncSite{}
	files, err := filepath.Glob("../journal/*.go")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	for _, name := range files {
		base := filepath.Base(name)
		if strings.HasSuffix(base, "_test.go") || strings.HasPrefix(base, "os_") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range file.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(function, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) > 0 {
					return true
				}
				if of, ok := call.Fun.(*ast.SelectorExpr); ok && of.Sel.Name == "Sync" {
					at := set.Position(of.Sel.Pos())
					sites[fmt.Sprintf("%s:%d", base, at.Line)] = syncSite{functionName(function), text(of.X)}
				}
				return true
			})
		}
	}
	return sites
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	return "(" + text(f.Recv.List[0].Type) + ")." + f.Name.Name
}

// text writes an expression of names, selectors and stars.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return text(e.X) + "." + e.Sel.Name
	case *ast.StarExpr:
		return "*" + text(e.X)
	}
	return fmt.Sprintf("%T", e)
}

// callingSite is the place in package journal that asked for the sync under way.
func callingSite() string {
	var callers [32]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers[:])])
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, "slipway/journal.") {
			return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return ""
		}
	}
}

// shortScript has each way to write once.
func shortScript(p *script) {
	p.worktree = clean
	issue := newIssue()
	p.start("print a page", issue.envelope(p.t))
	p.submit(suggesting(schema.Clarify, "ask"))
	p.again()
	p.stop()
	issue.amend(p.state.PinnedSource.RequirementsRevision, "- Print it twice.\n")
	p.resume(engine.ResumeRequest{Source: issue.envelope(p.t)})
}

// plainScript is a Run without material.
func plainScript(p *script) {
	p.worktree = clean
	p.start("print a page", nil)
	p.submit(suggesting(schema.Clarify, "ask"))
	p.again()
}

// violationWith searches for one on disks whose syncs have the given fate; empty
// where there is none.
func violationWith(t *testing.T, fate func(at string) crashfs.SyncFate) string {
	t.Helper()
	plain, short := tell(t, fate, plainScript), tell(t, fate, shortScript)
	for _, find := range []func(depth) *search{
		plain.searchPowerCuts, short.searchPowerCuts, plain.searchDeaths, short.searchDeaths, plain.searchRecoveries, short.searchRecoveries,
	} {
		if r := find(depth{disks: 4, stride: 1, violations: 1}); len(r.violations) > 0 {
			return r.violations[0]
		}
	}
	found := ""
	for _, c := range faultCases(t, fate) {
		c.sweep(func(op faultfs.Op, fault, _, violation string) bool {
			if violation != "" {
				found = fmt.Sprintf("%s, %s %s %s: %s", c.name, op.Kind, op.Path, fault, violation)
			}
			return found == ""
		})
		if found != "" {
			return found
		}
	}
	for _, of := range []func(testing.TB, func(string) crashfs.SyncFate) string{prunedForGood, takenBack, sweptForGood} {
		if found := of(t, fate); found != "" {
			return found
		}
	}
	return ""
}

// TestEverySyncIsNeeded leaves out each sync of package journal in turn: something
// is lost then, or the caller told something that is not so.
func TestEverySyncIsNeeded(t *testing.T) {
	if crashStride > 1 {
		t.Skip("too slow with the race detector, and nothing for it to find")
	}
	sites := syncSites(t)
	for _, at := range slices.Sorted(maps.Keys(sites)) {
		site := sites[at]
		if withoutEffect[site] && soaking(t) == 0 {
			continue // to find nothing takes long
		}
		var left atomic.Bool
		violation := violationWith(t, func(string) crashfs.SyncFate {
			if callingSite() != at {
				return crashfs.Works
			}
			left.Store(true)
			return crashfs.Ignored
		})
		switch {
		case !left.Load():
			t.Errorf("%s is never reached", site)
		case withoutEffect[site] && violation != "":
			t.Errorf("without %s, which is said to have no effect: %s", site, violation)
		case !withoutEffect[site] && violation == "":
			t.Errorf("without %s nothing is lost", site)
		default:
			t.Logf("without %s: %s", site, violation)
		}
	}
	for site := range withoutEffect {
		if !slices.Contains(slices.Collect(maps.Values(sites)), site) {
			t.Errorf("there is no %s any more", site)
		}
	}
}
