package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The pattern language of the conformance scenarios: JSON in which a string
// that begins with "$" is a rule, an object may allow further keys with "..."
// and absent ones with a "?" behind the name, and an array may allow further
// items with a last item "...".

var rules = map[string]func(string) bool{
	"$text":  func(s string) bool { return strings.TrimSpace(s) != "" },
	"$empty": func(s string) bool { return s == "" },
	"$uuid":  regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`).MatchString,
	"$sha":   regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString,
	"$time":  regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`).MatchString,
}

// match holds a value, decoded with UseNumber, against a pattern. The error
// names the place of the first difference.
func match(pattern, value any, at string) error {
	switch p := pattern.(type) {
	case string:
		if strings.HasPrefix(p, "$") {
			return matchRule(p, value, at)
		}
	case map[string]any:
		return matchObject(p, value, at)
	case []any:
		return matchArray(p, value, at)
	case json.Number:
		if n, ok := value.(json.Number); ok && sameNumber(p, n) {
			return nil
		}
	}
	if !reflect.DeepEqual(pattern, value) {
		return mismatch(at, value, "expected %v", show200(pattern))
	}
	return nil
}

func matchRule(rule string, value any, at string) error {
	if rule == "$any" {
		return nil
	}
	if rule == "$int" {
		if n, ok := value.(json.Number); ok && !strings.ContainsAny(n.String(), ".eE") {
			return nil
		}
		return mismatch(at, value, "expected an integer")
	}
	text, ok := value.(string)
	if !ok {
		return mismatch(at, value, "expected a string (%s)", rule)
	}
	if check, ok := rules[rule]; ok {
		if !check(text) {
			return mismatch(at, value, "expected %s", rule)
		}
		return nil
	}
	if want, ok := strings.CutPrefix(rule, "$has:"); ok {
		if !strings.Contains(text, want) {
			return mismatch(at, value, "expected to contain %q", want)
		}
		return nil
	}
	if expression, ok := strings.CutPrefix(rule, "$re:"); ok {
		found, err := search(expression, text)
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		if !found {
			return mismatch(at, value, "expected a match of %q", expression)
		}
		return nil
	}
	return fmt.Errorf("%s: unknown rule %q", at, rule)
}

func matchObject(pattern map[string]any, value any, at string) error {
	object, ok := value.(map[string]any)
	if !ok {
		return mismatch(at, value, "expected an object")
	}
	extra := maps.Clone(object)
	for _, key := range slices.Sorted(maps.Keys(pattern)) {
		if key == "..." {
			continue
		}
		name, optional := strings.CutSuffix(key, "?")
		item, present := object[name]
		delete(extra, name)
		switch {
		case present:
			if err := match(pattern[key], item, at+"."+name); err != nil {
				return err
			}
		case !optional:
			return mismatch(at, value, "missing key %q", name)
		}
	}
	if _, open := pattern["..."]; !open && len(extra) > 0 {
		return mismatch(at, value, "unexpected keys %v", slices.Sorted(maps.Keys(extra)))
	}
	return nil
}

func matchArray(pattern []any, value any, at string) error {
	array, ok := value.([]any)
	if !ok {
		return mismatch(at, value, "expected an array")
	}
	open := len(pattern) > 0 && pattern[len(pattern)-1] == "..."
	if open {
		pattern = pattern[:len(pattern)-1]
	}
	if len(array) < len(pattern) || len(array) > len(pattern) && !open {
		return mismatch(at, value, "expected %d items", len(pattern))
	}
	for i := range pattern {
		if err := match(pattern[i], array[i], fmt.Sprintf("%s[%d]", at, i)); err != nil {
			return err
		}
	}
	return nil
}

func mismatch(at string, value any, format string, args ...any) error {
	return fmt.Errorf("%s: %s; got %s", at, fmt.Sprintf(format, args...), show200(value))
}

// show200 is a value for a message, cut.
func show200(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text[:min(len(text), 200)])
}

func sameNumber(a, b json.Number) bool {
	x, ok := new(big.Rat).SetString(a.String())
	y, ok2 := new(big.Rat).SetString(b.String())
	return ok && ok2 && x.Cmp(y) == 0
}

// search looks for an expression of the scenarios in a text. They are written
// for a backtracking matcher; Go's has neither look-ahead nor counts beyond
// maxRepeat, so both are taken out of the expression first: look-aheads stand
// at its beginning only and are looked for one by one, and a large count
// becomes a group whose length is counted.
func search(expression, text string) (bool, error) {
	anchored := strings.HasPrefix(expression, "^")
	rest := strings.TrimPrefix(expression, "^")
	for strings.HasPrefix(rest, "(?=") || strings.HasPrefix(rest, "(?!") {
		end := closing(rest)
		found, err := searchPlain("^(?:"+rest[3:end]+")", text)
		if err != nil {
			return false, err
		}
		if found != (rest[2] == '=') {
			return false, nil
		}
		rest = rest[end+1:]
	}
	if anchored {
		rest = "^" + rest
	}
	return searchPlain(rest, text)
}

// closing is the index of the parenthesis that closes the one at the start.
func closing(expression string) int {
	depth, class := 0, false
	for i := 0; i < len(expression); i++ {
		switch c := expression[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
			if strings.HasPrefix(expression[i+1:], "^") {
				i++
			}
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(expression) - 1
}

// maxRepeat is the largest count that Go's regular expressions know.
const maxRepeat = 1000

var counted = regexp.MustCompile(`(\[[^\]]*\]|\.|[A-Za-z])\{(\d+)\}`)

func searchPlain(expression, text string) (bool, error) {
	var counts []int
	expression = counted.ReplaceAllStringFunc(expression, func(atom string) string {
		parts := counted.FindStringSubmatch(atom)
		n, err := strconv.Atoi(parts[2])
		if err != nil || n <= maxRepeat {
			return atom
		}
		counts = append(counts, n)
		return fmt.Sprintf("(?P<count%d>%s*)", len(counts)-1, parts[1])
	})
	compiled, err := regexp.Compile("(?s)" + expression)
	if err != nil {
		return false, err
	}
	groups := compiled.FindStringSubmatch(text)
	if groups == nil {
		return false, nil
	}
	for i, n := range counts {
		if utf8.RuneCountInString(groups[compiled.SubexpIndex(fmt.Sprintf("count%d", i))]) != n {
			return false, nil
		}
	}
	return true, nil
}
