//go:build unix

package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"slipway/schema"
)

// asked is the process that answers a question.
func (p *place) asked() int {
	p.t.Helper()
	call, raw, err := Ask(context.Background(), *p.options(), healthMethod, struct{}{})
	if err != nil {
		p.t.Fatal(err)
	}
	defer call.Close()
	var h Health
	if err := json.Unmarshal(raw, &h); err != nil {
		p.t.Fatal(err)
	}
	return h.PID
}

func TestAskStartsAndReplacesTheDaemon(t *testing.T) {
	p := newPlace(t)
	p.install('A', 1)
	first := p.asked()
	if again := p.asked(); again != first {
		t.Errorf("%d answered, then %d", first, again)
	}
	p.install('B', 2)
	second := p.asked()
	if second == first {
		t.Error("the old build answered a newer client")
	}
	p.install('A', 1)
	if again := p.asked(); again != second {
		t.Errorf("an older client was not answered by the newer daemon %d, but by %d", second, again)
	}
}

func TestAskIsACallLikeOthers(t *testing.T) {
	p := newPlace(t)
	for range 2 { // the first one starts the daemon
		for method, params := range map[string]any{
			"run/start": map[string]string{"root": "/w", "goal": "g"},
			"run/list":  map[string]string{"root": "/w"},
		} {
			call, result, err := Ask(context.Background(), *p.options(), method, params)
			if err != nil {
				t.Fatal(err)
			}
			again, err := call.Call(context.Background(), method, params)
			if err != nil || len(result) == 0 || string(again) != string(result) {
				t.Errorf("%s: %s, then %s (%v)", method, result, again, err)
			}
			call.Close()
		}
		if _, _, err := Ask(context.Background(), *p.options(), "run/list", map[string]int{"depth": 1}); codeOfError(t, err) != schema.CodeRuntimeError {
			t.Errorf("%v", err)
		}
	}
}

func TestGreetingForOneBuild(t *testing.T) {
	p := newPlace(t)
	p.connect()
	own := OwnBuild()
	other := own
	other.Digest, other.Revision = "other", ""
	for build, taken := range map[string]bool{own.String(): true, other.String(): false, "-": false} {
		r := dialRaw(t, filepath.Join(p.dir, "run", "slipway", "d1.sock"))
		list := `{"jsonrpc":"2.0","id":1,"method":"run/list","params":{"root":"/w"}}` + "\n"
		r.send(strings.Replace(helloLine, `"build":"-"`, fmt.Sprintf(`"build":%q,"only_same_build":true`, build), 1))
		r.line()
		r.send(list)
		if a := r.line(); (a.Error == nil) != taken || !taken && a.code() != -32600 {
			t.Errorf("%s: %+v", build, a.Error)
		}
		// It is no reason to hang up.
		r.send(helloLine + list)
		r.line()
		if a := r.line(); a.Error != nil {
			t.Errorf("%s, then an ordinary greeting: %+v", build, a.Error)
		}
	}
}

// TestAskOfADaemonThatHangs: the question may have reached it, so nothing is said of
// whether it was asked.
func TestAskOfADaemonThatHangs(t *testing.T) {
	p := newPlace(t)
	e := at(filepath.Join(p.dir, "run", "slipway", "d1.sock"), "")
	if err := e.prepare(); err != nil {
		t.Fatal(err)
	}
	l, err := e.listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o := p.options()
	o.Timeout = 50 * time.Millisecond
	_, _, err = Ask(context.Background(), *o, "run/list", map[string]string{"root": "/w"})
	if codeOfError(t, err) != schema.CodeDaemonUnresponsive || !strings.Contains(err.Error(), "nothing was changed") || strings.Contains(err.Error(), "asked") {
		t.Errorf("%v", err)
	}
}
