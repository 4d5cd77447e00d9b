package schema_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"slipway/schema"
)

func TestValidRunID(t *testing.T) {
	for _, id := range []string{"a", "-", "--root", "_9Z", "7d1f2a52-3c44-4a0e-9b7e-5f0f5d9a6c21", strings.Repeat("x", 128)} {
		if !schema.ValidRunID(id) {
			t.Errorf("%q is refused", id)
		}
	}
	for _, id := range []string{"", " a", "a\n", "a b", "a.b", "a/b", "é", "a\x00", strings.Repeat("x", 129)} {
		if schema.ValidRunID(id) {
			t.Errorf("%q is accepted", id)
		}
	}
}

func TestValidBudget(t *testing.T) {
	for n, want := range map[int]bool{-1: false, 0: false, 1: true, 8: true, 1000: true, 1001: false} {
		if schema.ValidBudget(n) != want {
			t.Errorf("%d: %v", n, !want)
		}
	}
}

func TestGoalFault(t *testing.T) {
	for name, test := range map[string]struct {
		goal string
		want schema.Code
	}{
		"fine":                              {"build it\n\tnow\r\n", ""},
		"as large as may be":                {strings.Repeat("x", schema.MaxGoalBytes-2), ""},
		"too large as a literal":            {strings.Repeat("x", schema.MaxGoalBytes-1), schema.CodeActionTooLarge},
		"too large":                         {strings.Repeat("x", schema.MaxGoalBytes+1), schema.CodeActionTooLarge},
		"too large and blank":               {strings.Repeat(" ", schema.MaxGoalBytes+1), schema.CodeActionTooLarge},
		"too large and not UTF-8":           {strings.Repeat("\xff", schema.MaxGoalBytes+1), schema.CodeActionTooLarge},
		"large blank":                       {strings.Repeat("\n", schema.MaxGoalBytes), schema.CodeGoalRequired},
		"empty":                             {"", schema.CodeGoalRequired},
		"blank":                             {" \u3000\n", schema.CodeGoalRequired},
		"blank of white space that is Cc":   {"\v\u0085", schema.CodeGoalRequired},
		"not UTF-8":                         {"a\xff", schema.CodeInvalidGoal},
		"only bytes that are not UTF-8":     {"\xff", schema.CodeInvalidGoal},
		"control character":                 {"a\x1b", schema.CodeInvalidGoal},
		"control character, large literal":  {strings.Repeat("\x01", 100_000), schema.CodeInvalidGoal},
		"only escapes make it too large":    {strings.Repeat("\n", 140_000) + "x", schema.CodeActionTooLarge},
		"separators count six in a literal": {strings.Repeat("\u2028", 50_000) + "x", schema.CodeActionTooLarge},
	} {
		code, reason := schema.GoalFault([]byte(test.goal))
		if code != test.want || (code == "") != (reason == "") {
			t.Errorf("%s: %q %q", name, code, reason)
		}
	}
}

func TestAnswerTextFault(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want schema.Code
	}{
		"empty":                     {"", ""},
		"control characters":        {"\x00\x1b", ""},
		"as large as may be":        {strings.Repeat("x", schema.MaxAnswerBytes-2), ""},
		"too large as a literal":    {strings.Repeat("x", schema.MaxAnswerBytes), schema.CodeAnswerTooLarge},
		"too large":                 {strings.Repeat("x", schema.MaxAnswerBytes+1), schema.CodeAnswerTooLarge},
		"too large and not UTF-8":   {strings.Repeat("\xff", schema.MaxAnswerBytes+1), schema.CodeAnswerTooLarge},
		"not UTF-8":                 {"\xff", schema.CodeInvalidAnswer},
		"not UTF-8, literal also":   {strings.Repeat("\x01", 100_000) + "\xff", schema.CodeInvalidAnswer},
		"control characters, large": {strings.Repeat("\x01", 100_000), schema.CodeAnswerTooLarge},
	} {
		code, reason := schema.AnswerTextFault([]byte(test.text))
		if code != test.want || (code == "") != (reason == "") {
			t.Errorf("%s: %q %q", name, code, reason)
		}
	}
}

func FuzzRunID(f *testing.F) {
	f.Add("7d1f2a52-3c44-4a0e-9b7e-5f0f5d9a6c21")
	f.Add("--root")
	f.Add("a\n")
	f.Fuzz(func(t *testing.T, id string) {
		if !schema.ValidRunID(id) {
			return
		}
		const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
		if len(id) < 1 || len(id) > 128 || strings.Trim(id, allowed) != "" {
			t.Fatalf("accepted %q", id)
		}
		next := schema.NextInspectRun(demo, id)
		if err := next.Validate(); err != nil {
			t.Fatal(err)
		}
		if odd := id == "FILE" || id == "--" || id == "--root"; (next.Operation == schema.OperationNone) != odd {
			t.Fatalf("%q: %s", id, next.Operation)
		}
	})
}

func FuzzGoalText(f *testing.F) {
	f.Add([]byte("build it"))
	f.Add([]byte(" \u3000"))
	f.Add([]byte("a\xff"))
	f.Fuzz(func(t *testing.T, goal []byte) {
		code, reason := schema.GoalFault(goal)
		if (code == "") != (reason == "") {
			t.Fatalf("%q with the reason %q", code, reason)
		}
		if code != "" {
			return
		}
		literal, err := schema.Marshal(string(goal))
		if err != nil || len(literal) > schema.MaxGoalBytes || !utf8.Valid(goal) {
			t.Fatalf("accepted what takes %d bytes: %v", len(literal), err)
		}
		action := soundAction()
		action.Goal = string(goal)
		if fault, ok := action.Validate().(*schema.ActionFault); ok && fault.Code != schema.CodeActionTooLarge {
			t.Fatalf("a goal that is fine makes an Action that is not: %v", fault)
		}
	})
}

func FuzzAnswerText(f *testing.F) {
	f.Add([]byte("the left one"))
	f.Add([]byte("a\x00\x1b\u2028"))
	f.Add([]byte("a\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		code, reason := schema.AnswerTextFault(text)
		if (code == "") != (reason == "") {
			t.Fatalf("%q with the reason %q", code, reason)
		}
		literal, err := schema.Marshal(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if fine := utf8.Valid(text) && len(text) <= schema.MaxAnswerBytes && schema.EncodedSize(string(text)) <= schema.MaxAnswerBytes; fine != (code == "") {
			t.Fatalf("%d bytes, %d as a literal: %q", len(text), len(literal), code)
		}
		if utf8.Valid(text) && len(literal) != schema.EncodedSize(string(text)) {
			t.Fatalf("a literal of %d bytes counts as %d", len(literal), schema.EncodedSize(string(text)))
		}
	})
}
