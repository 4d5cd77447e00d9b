package source

import (
	"strings"

	"slipway/schema"
)

// The lines that a Change body is made of (source.md, section 3).
const (
	changeMarker    = "<!-- slipway-level: change/v2 -->"
	levelName       = "slipway-level:"
	objectiveName   = "slipway-level: objective/"
	levelMarkerHead = "<!-- slipway-level:"
	manifestFence   = "```slipway-manifest"
	closingLine     = "```"
)

// normalise turns every CR LF and then every CR into LF.
func normalise(text string) string {
	if !strings.Contains(text, "\r") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for {
		line, rest, found := strings.Cut(text, "\r")
		b.WriteString(line)
		if !found {
			return b.String()
		}
		b.WriteByte('\n')
		text = strings.TrimPrefix(rest, "\n")
	}
}

// firstSolidLine returns the first line that is not blank, and what follows the
// LF that ends it. The line is empty where all are blank.
func firstSolidLine(text string) (line, rest string) {
	for more := true; more; text = rest {
		line, rest, more = strings.Cut(text, "\n")
		if !schema.IsBlank(line) {
			return line, rest
		}
	}
	return "", ""
}

// manifestText checks the frame of a normalised Change body and returns the text
// between the manifest fences: source.md, section 3, rows 1 to 5.
func manifestText(body string) (string, *headFault) {
	marker, rest := firstSolidLine(body)
	if marker != changeMarker {
		return "", markerFault(marker)
	}
	opening, rest := firstSolidLine(rest)
	if opening != manifestFence {
		return "", manifestFault("the line after the level marker does not open the manifest fence")
	}
	text, tail, closed := cutAtClosingLine(rest)
	if !closed {
		return "", manifestFault("the manifest fence is not closed")
	}
	if reason := tailFault(tail); reason != "" {
		return "", manifestFault("%s", reason)
	}
	if text == "" {
		return "", manifestFault("the manifest is empty")
	}
	if len(text) > MaxManifestBytes {
		return "", manifestFault("the manifest has more than %d bytes", MaxManifestBytes)
	}
	return text, nil
}

// markerFault is row 1 for a first line that is not the marker of a Change.
func markerFault(line string) *headFault {
	switch {
	case strings.Contains(line, objectiveName):
		return &headFault{ObjectiveMarker, "the Issue is an Objective; only a Change can be a source"}
	case strings.Contains(line, levelName):
		return &headFault{UnsupportedMarker, "the level marker of the Issue is not exactly that of change/v2"}
	}
	return &headFault{ChangeMarkerRequired, "the body of the Issue does not begin with the level marker of a Change"}
}

// cutAtClosingLine splits text around the first line that closes the manifest.
func cutAtClosingLine(text string) (before, after string, found bool) {
	for start, more := 0, true; more; {
		var line, rest string
		line, rest, more = strings.Cut(text[start:], "\n")
		if line == closingLine {
			return strings.TrimSuffix(text[:start], "\n"), rest, true
		}
		start = len(text) - len(rest)
	}
	return "", "", false
}
