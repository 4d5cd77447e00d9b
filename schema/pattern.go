package schema

import (
	"regexp"
	"sync"
)

// Pattern gives the test whether a string matches a regular expression. The
// expression is compiled when the first string is tested: the client starts once
// a step, and most of its starts test none.
func Pattern(expression string) func(string) bool {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
	return func(s string) bool { return compiled().MatchString(s) }
}
