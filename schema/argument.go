package schema

import (
	"fmt"
	"unicode/utf8"
)

// The range of a budget, and what a start takes without one (run.md, section 4).
const (
	MinBudget     = 1
	MaxBudget     = 1000
	DefaultBudget = 8
)

// Limits of an answer, in bytes: as read, and as a JSON literal (wire.md,
// section 11). The limits of a goal, [MaxGoalBytes], work in the same two ways.
const MaxAnswerBytes = 262_144

// MaxRunIDBytes bounds a Run id in an argument (wire.md, section 11).
const MaxRunIDBytes = 128

// ValidRunID reports whether s may be a Run id in an argument (wire.md, section
// 11). It may also begin with a dash.
func ValidRunID(s string) bool {
	if s == "" || len(s) > MaxRunIDBytes {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}

// ValidBudget reports whether n is a budget that a caller may give.
func ValidBudget(n int) bool { return MinBudget <= n && n <= MaxBudget }

// GoalFault says what is wrong with the bytes of a goal: one of
// CodeActionTooLarge, CodeGoalRequired and CodeInvalidGoal with a reason for
// people, in the order of run.md, 6.2, rows 4 to 6. The code is empty where the
// goal is fine.
func GoalFault(goal []byte) (Code, string) {
	if len(goal) > MaxGoalBytes {
		return CodeActionTooLarge, fmt.Sprintf("the goal has more than %d bytes: shorten it", MaxGoalBytes)
	}
	text := string(goal)
	switch {
	case IsBlank(text):
		return CodeGoalRequired, "the goal is blank: say what is to be reached"
	case !utf8.ValidString(text):
		return CodeInvalidGoal, "the goal is not valid UTF-8"
	case !IsText(text):
		return CodeInvalidGoal, "the goal has a control character other than TAB, LF and CR"
	case EncodedSize(text) > MaxGoalBytes:
		return CodeActionTooLarge, fmt.Sprintf("the goal as a JSON string has more than %d bytes: shorten it", MaxGoalBytes)
	}
	return "", ""
}

// AnswerTextFault says what is wrong with the bytes of an answer: one of
// CodeAnswerTooLarge and CodeInvalidAnswer with a reason for people, in the order
// of run.md, 6.4. The code is empty where the text can be an answer; whether it
// may be blank depends on the question.
func AnswerTextFault(text []byte) (Code, string) {
	switch {
	case len(text) > MaxAnswerBytes:
		return CodeAnswerTooLarge, fmt.Sprintf("the answer has more than %d bytes: shorten it", MaxAnswerBytes)
	case !utf8.Valid(text):
		return CodeInvalidAnswer, "the answer is not valid UTF-8"
	case EncodedSize(string(text)) > MaxAnswerBytes:
		return CodeAnswerTooLarge, fmt.Sprintf("the answer as a JSON string has more than %d bytes: shorten it", MaxAnswerBytes)
	}
	return "", ""
}
