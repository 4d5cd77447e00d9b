package main

import (
	"os"
	"strings"

	"slipway/schema"
)

// sourceErrors: errors.md, 5.3, and the usage errors of resume.
func sourceErrors() []wrong {
	usage := func(code schema.Code, rest string, more params) wrong {
		more["method"], more["run"] = "run/resume", "r"
		return wrong{code: code, exit: 2, line: "protocol resume r " + rest, call: more, next: inspectOne}
	}
	state := func(code schema.Code, stage, rest, next string, more params) wrong {
		more["method"], more["run"] = "run/resume", "$RUN"
		return wrong{code: code, exit: 3, stage: stage, line: "protocol resume $RUN " + rest, call: more, next: next, details: runDetails}
	}
	// refused is a resume with the envelope of an Issue that was changed.
	refused := func(code schema.Code, next string, change func(*world, *issue)) wrong {
		w := state(code, "source stopped", "--source-file $TMP/head.json", next, params{"source_base64": "@head.json"})
		w.prepare = func(w *world) {
			head := newIssue()
			change(w, head)
			w.file("head.json", head.envelope(w.t))
		}
		return w
	}
	mismatch := refused(schema.CodeSourceIssueMismatch, "start start-with-source", func(_ *world, i *issue) { i.id = "I_8" })
	mismatch.details = "pinned_issue_id refreshed_issue_id run_id state"
	spoiled := func(stage, run, line, next string) wrong {
		return wrong{code: schema.CodeInvalidSourceCandidate, exit: 2, stage: stage, line: "protocol resume --source-file $TMP/o " + line + " -- " + run, next: next,
			prepare: outcomeFile("o", "{"), call: params{"method": "run/resume", "run": run, "source_base64": "@o"}}
	}
	withBudget := spoiled("nothing", "r", "--budget 7", "resume refresh-source")
	withBudget.call["budget"] = 7
	return []wrong{
		usage(schema.CodeSourceChoiceRequiresCandidate, "--source-choice nonsense", params{"source_choice": "nonsense"}),
		usage(schema.CodeSourceChoiceRequiresCandidate, "--candidate c", params{"candidate": "c"}),
		usage(schema.CodeSourceChoiceRequiresCandidate, "--source-choice pinned --candidate ∅", params{"source_choice": "pinned", "candidate": ""}),
		usage(schema.CodeInvalidSourceChoice, "--source-choice Pinned --candidate c --use-pinned-source",
			params{"source_choice": "Pinned", "candidate": "c", "use_pinned_source": true}),
		usage(schema.CodeSourceModeConflict, "--source-choice pinned --candidate c --use-pinned-source",
			params{"source_choice": "pinned", "candidate": "c", "use_pinned_source": true}),
		spoiled("nothing", "r", "", "resume refresh-source"),
		spoiled("nothing", "--r", "", nothing),
		withBudget,
		spoiled("active", "$RUN", "", "resume resume-ad-hoc"),
		spoiled("ended", "$RUN", "", nothing),
		spoiled("source", "$RUN", "--budget 7", sourceNext),
		spoiled("candidate", "$RUN", "", chooseNext),
		spoiled("invalid candidate", "$RUN", "", "resume keep-pinned"),

		state(schema.CodeSourceModeNotAllowed, "stopped", "--use-pinned-source", "resume resume-ad-hoc", params{"use_pinned_source": true}),
		state(schema.CodeSourceModeRequired, "source stopped", "--budget 3", sourceNext, params{"budget": 3}),
		state(schema.CodeSourceCandidatePending, "candidate", "--use-pinned-source", chooseNext, params{"use_pinned_source": true}),
		state(schema.CodeSourceChoiceRequired, "candidate", "", chooseNext, params{}),
		state(schema.CodeStaleSourceCandidate, "candidate", "--source-choice adopt --candidate other", chooseNext, params{"source_choice": "adopt", "candidate": "other"}),
		state(schema.CodeStaleSourceCandidate, "source stopped", "--source-choice adopt --candidate c", sourceNext, params{"source_choice": "adopt", "candidate": "c"}),
		state(schema.CodeInvalidSourceCandidateChoice, "invalid candidate", "--source-choice adopt --candidate $CANDIDATE", "resume keep-pinned",
			params{"source_choice": "adopt", "candidate": "$CANDIDATE"}),
		state(schema.CodeSourceChoiceConflict, "chosen", "--source-choice adopt --candidate $FORMER", sourceNext,
			params{"source_choice": "adopt", "candidate": "$FORMER"}),
		mismatch,
		refused(schema.CodeSourceHistoryInPlaceEdit, sourceNext, func(_ *world, i *issue) { i.comments[0].text = "Something else.\n" }),
		refused(schema.CodeSourceHistoryFork, "start start-with-source", func(_ *world, i *issue) { i.comments[0].id = 2001 }),
		refused(schema.CodeSourceAliasLimit, "start start-with-source", func(w *world, i *issue) {
			w.move(64)
			i.url = elsewhere("the-last")
		}),
	}
}

// materialErrors: errors.md, 5.4.
func materialErrors() []wrong {
	material := func(code schema.Code, stage, action, key, next string) wrong {
		return wrong{code: code, exit: 3, stage: stage, line: "protocol material --run $RUN --action " + action + " --section " + key, next: next,
			call: params{"method": "run/material", "run": "$RUN", "action": action, "section": key}}
	}
	section := func(code schema.Code, stage, key string) wrong {
		return wrong{code: code, exit: 3, stage: stage, line: "status $RUN --section " + key, next: inspectOne,
			call: params{"method": "run/section", "run": "$RUN", "section": key}}
	}
	unstored := material(schema.CodeMaterialUnavailable, "source", "$A", "outcome", inspectOne)
	unstored.prepare = func(w *world) {
		if err := os.RemoveAll(w.storage(w.vars["RUN"], "materials")); err != nil {
			w.t.Fatal(err)
		}
	}
	unknown := material(schema.CodeMaterialSectionInvalid, "nothing", "a", "Outcome", inspectOne)
	unknown.line, unknown.call = strings.ReplaceAll(unknown.line, "$RUN", "r"), replaced(unknown.call, "$RUN", "r")
	return []wrong{
		unknown, unstored,
		material(schema.CodeMaterialActionNotFound, "active", "a", "x", inspectOne),
		material(schema.CodeMaterialActionStale, "reported", "$BEFORE", "x", stepNext),
		material(schema.CodeMaterialActionStale, "source stopped", "$A", "outcome", sourceNext),
		material(schema.CodeMaterialUnavailable, "active", "$A", "x", inspectOne),
		material(schema.CodeMaterialSectionNotFound, "source", "$A", "unknown", inspectOne),
		section(schema.CodeMaterialSectionInvalid, "active", ".x"),
		section(schema.CodeMaterialUnavailable, "active", "x"),
		section(schema.CodeMaterialSectionNotFound, "source", "unknown"),
	}
}

// hostErrors: errors.md, 5.5, and the usage errors of install and uninstall.
func hostErrors() []wrong {
	const list, look, report = "command list-host-adapters", "command inspect-host-adapters", "report transaction_outcome"
	install := func(more params) params { more["method"] = "adapter/install"; return more }
	uninstall := func(more params) params { more["method"] = "adapter/uninstall"; return more }
	return []wrong{
		{code: schema.CodeHostAdapterRequired, exit: 2, line: "install --tool ∅", next: list, call: install(params{"tool": []string{""}})},
		{code: schema.CodeHostAdapterRequired, exit: 2, line: "uninstall --tool ,", next: list, call: uninstall(params{"tool": []string{","}})},
		{code: schema.CodeUnknownHostAdapter, exit: 2, line: "install --tool codex,nothing", next: list, call: install(params{"tool": []string{"codex,nothing"}})},
		{code: schema.CodeUnknownHostAdapter, exit: 2, line: "uninstall --tool x --tool codex", next: list, call: uninstall(params{"tool": []string{"x", "codex"}})},
		{code: schema.CodeInvalidAdapterSurface, exit: 2, line: "install --tool codex --surface ide", next: "command install-kiro",
			call: install(params{"tool": []string{"codex"}, "surface": "ide"})},
		{code: schema.CodeInvalidAdapterSurface, exit: 2, line: "install --tool kiro", next: "command install-kiro", call: install(params{"tool": []string{"kiro"}})},
		{code: schema.CodeInstallFailed, exit: 3, line: "install", next: look, details: report, call: install(params{})},
		{code: schema.CodeUninstallFailed, exit: 3, line: "uninstall", next: look, details: report, call: uninstall(params{})},
	}
}
