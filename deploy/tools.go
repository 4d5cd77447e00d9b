package deploy

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"slipway/schema"
)

// allHosts is the --tool value that stands for every host.
const allHosts = "all"

// ToolsFault reports why values of --tool are malformed: each is one record of
// comma-separated values. It belongs to the grammar of the command line, so it is
// looked at before anything else (invalid_usage).
func ToolsFault(values []string) error {
	_, err := splitTools(values)
	return err
}

// splitTools gives the items of all values, trimmed, in lower case, without empty
// ones.
func splitTools(values []string) ([]string, error) {
	var items []string
	for _, value := range values {
		reader := csv.NewReader(strings.NewReader(value))
		record, err := reader.Read()
		if err == nil {
			if _, more := reader.Read(); more != io.EOF {
				err = errors.New("it has more than one line")
			}
		}
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("--tool %q is no list of host ids, separated by commas: %w", value, err)
		}
		for _, item := range record {
			if item = strings.ToLower(schema.TrimWhiteSpace(item)); item != "" {
				items = append(items, item)
			}
		}
	}
	return items, nil
}

// namedHosts gives the hosts that --tool names, in registry order. The fault is a
// usage error.
func namedHosts(values []string, place schema.Place) ([]*host, *schema.Error) {
	items, err := splitTools(values)
	if err != nil {
		return nil, schema.Usage(schema.CodeInvalidUsage, schema.NextNone(place), "%v", err)
	}
	named := map[string]bool{}
	for _, item := range items {
		if item != allHosts && findHost(item) == nil {
			return nil, schema.Usage(schema.CodeUnknownHostAdapter, schema.NextListHostAdapters(place),
				"--tool names %q; the hosts are %s, and %s for every one", item, strings.Join(HostIDs(), ", "), allHosts)
		}
		named[item] = true
	}
	if len(named) == 0 {
		return nil, schema.Usage(schema.CodeHostAdapterRequired, schema.NextListHostAdapters(place),
			"--tool names no host; name one or more of %s, or %s", strings.Join(HostIDs(), ", "), allHosts)
	}
	var chosen []*host
	for _, h := range hosts() {
		if named[h.id] || named[allHosts] {
			chosen = append(chosen, h)
		}
	}
	return chosen, nil
}
