package gitwatch

import (
	"bytes"
	"context"
	"errors"
	"strings"
)

// maxJudgedAtOnce bounds one question about ignored folders.
const maxJudgedAtOnce = 10_000

var errIgnoredAnswer = errors.New("git check-ignore gave an answer that is not understood")

// notIgnored gives those of the folders that Git looks into. A folder that holds
// tracked files is never ignored.
func (p program) notIgnored(ctx context.Context, root string, folders []string) ([]string, error) {
	var kept []string
	for len(folders) > 0 {
		some := folders[:min(len(folders), maxJudgedAtOnce)]
		folders = folders[len(some):]
		answer, err := p.judge(ctx, root, some)
		if err != nil {
			return nil, err
		}
		for _, folder := range some {
			if !answer[folder] {
				kept = append(kept, folder)
			}
		}
	}
	return kept, nil
}

// hereMark keeps a name from being read as a pattern.
const hereMark = "./"

// judge says of each folder whether it is ignored.
func (p program) judge(ctx context.Context, root string, folders []string) (map[string]bool, error) {
	p.input = hereMark + strings.Join(folders, "\x00"+hereMark) + "\x00"
	var out bytes.Buffer
	err := p.ask(ctx, &out, root, "check-ignore", "-z", "--stdin", "--verbose", "--non-matching")
	if err != nil && exitStatus(err) != 1 { // 1: no rule fits any
		return nil, err
	}
	// Of each folder: file and line of the rule, the rule, the folder.
	const fields = 4
	answer := strings.Split(out.String(), "\x00")
	if len(answer) != fields*len(folders)+1 {
		return nil, errIgnoredAnswer
	}
	ignored := make(map[string]bool, len(folders))
	for i, folder := range folders {
		rule, about := answer[fields*i+2], answer[fields*i+3]
		if about != hereMark+folder {
			return nil, errIgnoredAnswer
		}
		ignored[folder] = rule != "" && rule[0] != '!'
	}
	return ignored, nil
}
