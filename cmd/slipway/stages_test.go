package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	"slipway/schema"
)

// reach brings the Run of a world into a state that errors are about. The Run is
// left in $RUN, its current or last Action in $A and the one before in $BEFORE.
func (w *world) reach(stage string) {
	w.t.Helper()
	switch stage {
	case "nothing":
	case "active":
		w.start(nil)
	case "reported": // the first Action has the Outcome in first.json
		w.start(nil)
		w.file("first.json", w.outcome(nil))
		w.submit(nil)
	case "asked":
		w.start(nil)
		w.submit(asks(schema.DecisionRequired, "which one?"))
	case "answered":
		w.reach("asked")
		w.answer("the left one")
	case "environment":
		w.start(nil)
		w.submit(asks(schema.EnvironmentUnavailable, "is the network back?"))
	case "spent":
		w.start(map[string]any{"budget": 1})
		w.submit(nil)
	case "destructive":
		w.destructive(8)
	case "destructive without budget":
		w.destructive(2)
	case "stopped":
		w.start(nil)
		w.stop()
	case "ended":
		w.start(nil)
		w.submit(nil)
		w.submit(nil)
	default:
		w.reachSource(stage)
	}
}

// reachSource: the same for issue-backed Runs.
func (w *world) reachSource(stage string) {
	w.t.Helper()
	switch stage {
	case "source":
		w.start(map[string]any{"source": newIssue().envelope(w.t)})
		w.pinned()
	case "source stopped":
		w.reach("source")
		w.stop()
	case "candidate":
		w.reach("source stopped")
		w.refresh(w.amended())
	case "invalid candidate":
		w.reach("source stopped")
		w.refresh(unusable())
	case "chosen":
		w.reach("candidate")
		w.choose("pinned")
	default:
		w.t.Fatalf("no stage %q", stage)
	}
}

func (w *world) start(params map[string]any) {
	full := map[string]any{"goal": "tidy the notes", "review": false}
	for name, value := range params {
		full[name] = value
	}
	w.do("run/start", full)
}

// longestGoal is the longest goal that a Run can start with. The first Action has
// just room for it; one with a decision in its context has not.
func (w *world) longestGoal() string {
	goal := strings.Repeat("x", 262_142)
	fits := sort.Search(len(goal), func(n int) bool {
		_, failure := w.try("run/start", map[string]any{"root": w.vars["ROOT"], "goal": goal[:n+1], "review": false})
		return failure != nil
	})
	return goal[:fits]
}

func (w *world) answer(text string) {
	w.do("run/answer", map[string]any{"run": w.vars["RUN"], "action": w.vars["A"], "text": text})
}

func (w *world) stop() { w.do("run/stop", map[string]any{"run": w.vars["RUN"]}) }

// refresh refreshes the source, which has to lead to a candidate.
func (w *world) refresh(head *issue) {
	w.do("run/resume", map[string]any{"run": w.vars["RUN"], "source": head.envelope(w.t)})
	w.vars["CANDIDATE"] = fmt.Sprint(w.last["source_candidate"].(map[string]any)["candidate_id"])
}

// choose resolves the candidate that waits. It is left in $FORMER, with the choice
// in $CHOSEN and the other one in $SPURNED.
func (w *world) choose(choice string) {
	w.do("run/resume", map[string]any{"run": w.vars["RUN"], "source_choice": choice, "candidate": w.vars["CANDIDATE"]})
	w.pinned()
	w.vars["FORMER"], w.vars["CHOSEN"] = w.vars["CANDIDATE"], choice
	w.vars["SPURNED"] = map[string]string{"pinned": "adopt", "adopt": "pinned"}[choice]
	delete(w.vars, "CANDIDATE")
}

// pinned leaves the revision of the requirements in $REQUIREMENTS.
func (w *world) pinned() {
	w.vars["REQUIREMENTS"] = fmt.Sprint(w.last["pinned_source"].(map[string]any)["requirements_revision"])
}

// destructive asks for a destructive confirmation with the second Action.
func (w *world) destructive(budget int) {
	w.start(map[string]any{"budget": budget})
	w.submit(func(o *schema.Outcome) {
		o.SuggestedActions = []schema.Suggestion{{Kind: schema.Implement, Brief: "drop the branch"}}
	})
	request := schema.DestructiveRequest{
		RequestID: "7d1f2a52-3c44-4a0e-9b7e-5f0f5d9a6c21", Impact: "the branch is gone",
		Targets: []schema.Target{{Kind: "git_ref", Value: "refs/heads/old"}},
	}
	request.ScopeSHA256 = schema.ScopeDigest(request.RequestID, request.Impact, request.Targets)
	w.vars["SCOPE"] = string(request.ScopeSHA256)
	w.submit(func(o *schema.Outcome) {
		asks(schema.DestructiveConfirmationRequired, "may I?")(o)
		o.Pause.DestructiveRequest = &request
	})
}

// issue is an Issue of which envelopes are made.
type issue struct {
	id, url, parent string
	body            string // instead of the one with the manifest
	comments        []issueComment
	change          func(envelope map[string]any) // of what is sent; nil for none
}

type issueComment struct {
	key, role, text string
	id              int
	title, node     string // "" for the key, and for one made of the id
}

func newIssue() *issue {
	i := &issue{id: "I_7", url: "https://github.com/example-org/widgets/issues/7"}
	for n, role := range []string{"outcome", "requirements", "acceptance_examples", "constraints", "non_goals"} {
		i.comments = append(i.comments, issueComment{key: strings.ReplaceAll(role, "_", "-"), role: role, text: "About " + role + ".\n", id: 1001 + n})
	}
	return i
}

// amended is the Issue with a new chapter that follows the pinned revision.
func (w *world) amended() *issue { return w.amendment(2001) }

// amendment is amended with a chapter of this comment.
func (w *world) amendment(id int) *issue {
	i := newIssue()
	i.parent = w.vars["REQUIREMENTS"]
	i.comments[0].text, i.comments[0].id = fmt.Sprintf("Something else, as %d says.\n", id), id
	return i
}

// unusable is a head of the Issue that is no Change.
func unusable() *issue {
	i := newIssue()
	i.body, i.comments = "<!-- slipway-level: objective/v1 -->\n", nil
	return i
}

// elsewhere is the URL of the Issue in another repository.
func elsewhere(repository string) string {
	return strings.Replace(newIssue().url, "widgets", repository, 1)
}

// move moves the Issue of a stopped Run n times, and as often the Run learns of it.
func (w *world) move(n int) {
	for i := range n {
		moved := newIssue()
		moved.url = elsewhere(fmt.Sprintf("widgets-%d", i))
		w.do("run/resume", map[string]any{"run": w.vars["RUN"], "source": moved.envelope(w.t)})
		w.stop()
	}
}

func (c issueComment) body() string {
	return "<!-- slipway-section:v1 key=" + c.key + " -->\n" + c.text
}

func (i *issue) envelope(t *testing.T) json.RawMessage {
	t.Helper()
	const at = "2026-01-05T08:00:00Z"
	manifest := map[string]any{"manifest_version": 2, "profile": "change/v2"}
	if i.parent != "" {
		manifest["parent_requirements_revision"] = i.parent
	}
	sections, comments := []map[string]any{}, []map[string]any{}
	for _, c := range i.comments {
		node := cmp.Or(c.node, fmt.Sprintf("IC_%d", c.id))
		sections = append(sections, map[string]any{
			"key": c.key, "role": c.role, "title": cmp.Or(c.title, c.key), "comment_node_id": node, "comment_database_id": c.id,
			"body_sha256": schema.FramedDigest("slipway-comment-body/v1", c.body()),
		})
		comments = append(comments, map[string]any{
			"node_id": node, "database_id": c.id, "url": fmt.Sprintf("%s#issuecomment-%d", i.url, c.id), "updated_at": at,
			"author_id": "U_1", "is_minimized": false, "body": c.body(),
		})
	}
	manifest["sections"] = sections
	body := i.body
	if body == "" {
		text, err := schema.Marshal(manifest)
		if err != nil {
			t.Fatal(err)
		}
		body = "<!-- slipway-level: change/v2 -->\n```slipway-manifest\n" + string(text) + "\n```\n"
	}
	envelope := map[string]any{
		"source_version": 2, "provider": "github", "host": "github.com", "repository_id": "R_1", "issue_id": i.id, "issue_number": 7,
		"canonical_url": i.url, "updated_at": at, "fetched_at": at, "title": "Widgets", "body": body, "labels": []string{}, "comments": comments,
	}
	if i.change != nil {
		i.change(envelope)
	}
	text, err := schema.Marshal(envelope)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// damage rewrites a file of the Run's storage.
func (w *world) damage(name string, change func([]byte) []byte) {
	w.t.Helper()
	path := w.storage(w.vars["RUN"], name)
	content, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, change(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}
