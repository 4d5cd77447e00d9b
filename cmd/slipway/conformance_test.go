package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"slipway/schema"
)

const scenarioFolder = "testdata/conformance"

// TestConformance drives the built program through every recorded exchange,
// once with a daemon of its own and once with every command in its own process.
// What a scenario is stands in testdata/conformance/README.md.
func TestConformance(t *testing.T) {
	messages := compileMessages(t)
	for mode, setting := range map[string]string{"daemon": "require", "embedded": "off"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			// Removed after the daemon has ended, which writes there until then.
			base := shortTempDir(t)
			env := privateEnvironment(t, "SLIPWAY_DAEMON="+setting)
			for _, name := range scenarios(t) {
				t.Run(strings.TrimSuffix(name, ".json"), func(t *testing.T) {
					t.Parallel()
					if err := newScenario(t, base, env, messages).play(name); err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
}

// scenarios lists the scenario files, relative to their folder.
func scenarios(t *testing.T) []string {
	var names []string
	err := fs.WalkDir(os.DirFS(scenarioFolder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".json") {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Fatal("no scenarios")
	}
	return names
}

// scenario is one exchange with its own repository and folder.
type scenario struct {
	t        *testing.T
	env      []string
	vars     map[string]string
	messages func(string) *jsonschema.Schema
}

// exchange is a step of a scenario; exactly one of its kinds is set.
type exchange struct {
	Slipway []string          `json:"slipway"`
	Stdin   any               `json:"stdin"`
	Exit    int               `json:"exit"`
	Out     any               `json:"out"`
	Err     any               `json:"err"`
	Save    map[string]string `json:"save"`
	SaveErr map[string]string `json:"save_err"`
	Cwd     string            `json:"cwd"`

	File string  `json:"file"`
	Text *string `json:"text"`
	JSON any     `json:"json"`
	B64  *string `json:"b64"`

	Repo    map[string]*string `json:"repo"`
	Git     []string           `json:"git"`
	Symlink string             `json:"symlink"`
	To      string             `json:"to"`
	Set     map[string]string  `json:"set"`
}

func newScenario(t *testing.T, base string, env []string, messages func(string) *jsonschema.Schema) *scenario {
	work, err := os.MkdirTemp(base, "")
	if err != nil {
		t.Fatal(err)
	}
	s := &scenario{t: t, env: env, messages: messages, vars: map[string]string{
		"WORK": work, "ROOT": filepath.Join(work, "repo"), "TMP": filepath.Join(work, "tmp"),
	}}
	for _, dir := range []string{s.vars["ROOT"], s.vars["TMP"]} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	makeRepository(t, env, s.vars["ROOT"])
	return s
}

// play runs every step; the error says which one came out differently.
func (s *scenario) play(name string) error {
	content, err := os.ReadFile(filepath.Join(scenarioFolder, name))
	if err != nil {
		return err
	}
	var steps struct {
		Steps []json.RawMessage `json:"steps"`
	}
	if err := json.Unmarshal(content, &steps); err != nil {
		return err
	}
	for number, raw := range steps.Steps {
		var step exchange
		if err := decodeNumbers(s.expand(raw), &step); err != nil {
			return fmt.Errorf("step %d: %w", number, err)
		}
		if err := s.step(step); err != nil {
			return fmt.Errorf("step %d %s: %w", number, strings.Join(step.Slipway, " "), err)
		}
	}
	return nil
}

var variable = regexp.MustCompile(`\$\{(\w+)\}`)

// expand puts the variables into the JSON of a step; their values stand inside
// strings there, so they are escaped like it.
func (s *scenario) expand(raw json.RawMessage) []byte {
	return variable.ReplaceAllFunc(raw, func(name []byte) []byte {
		value, err := schema.Marshal(s.vars[string(name[2:len(name)-1])])
		if err != nil {
			s.t.Fatal(err)
		}
		return value[1 : len(value)-1]
	})
}

func (s *scenario) step(step exchange) error {
	switch {
	case step.Slipway != nil:
		return s.slipway(step)
	case step.File != "":
		return s.write(step)
	case step.Repo != nil:
		return s.edit(step.Repo)
	case step.Git != nil:
		runGit(s.t, s.env, s.vars["ROOT"], step.Git...)
		return nil
	case step.Symlink != "":
		return os.Symlink(step.To, s.place(step.Symlink))
	case step.Set != nil:
		for name, value := range step.Set {
			s.vars[name] = value
		}
		return nil
	}
	return errors.New("unknown kind of step")
}

// write puts a file into the scenario's own folder.
func (s *scenario) write(step exchange) error {
	var content []byte
	var err error
	switch {
	case step.Text != nil:
		content = []byte(*step.Text)
	case step.B64 != nil:
		content, err = base64.StdEncoding.DecodeString(*step.B64)
	default:
		content, err = schema.Marshal(step.JSON)
		content = append(content, '\n')
	}
	if err != nil {
		return err
	}
	return writeFile(s.place(step.File), content)
}

// place is where a step means: in the scenario's own folder, if it does not say
// otherwise.
func (s *scenario) place(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.vars["TMP"], name)
}

// edit writes and removes files of the repository.
func (s *scenario) edit(files map[string]*string) error {
	for name, text := range files {
		target := filepath.Join(s.vars["ROOT"], name)
		if text == nil {
			if err := os.Remove(target); err != nil {
				return err
			}
			continue
		}
		if err := writeFile(target, []byte(*text)); err != nil {
			return err
		}
	}
	return nil
}

// slipway runs the program and holds what it answers against the step.
func (s *scenario) slipway(step exchange) error {
	cmd := exec.Command(program("slipway"), step.Slipway...)
	cmd.Env, cmd.Dir = s.env, s.vars["ROOT"]
	if step.Cwd != "" {
		cmd.Dir = step.Cwd
	}
	if step.Stdin != nil {
		text, ok := step.Stdin.(string)
		if !ok {
			document, err := schema.Marshal(step.Stdin)
			if err != nil {
				return err
			}
			text = string(document)
		}
		cmd.Stdin = strings.NewReader(text)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return err
	}
	if exit := cmd.ProcessState.ExitCode(); exit != step.Exit {
		return fmt.Errorf("exit %d, expected %d; stderr %.400q stdout %.200q", exit, step.Exit, stderr.String(), stdout.String())
	}
	if step.Out == nil {
		step.Out = map[bool]string{true: "$re:", false: "$empty"}[step.Exit == 0]
	}
	if step.Err == nil {
		step.Err = map[bool]string{true: "$empty", false: "$re:"}[step.Exit == 0]
	}
	if err := s.stream("stdout", step.Out, stdout.Bytes(), step.Save, shapeOf(step.Slipway)); err != nil {
		return err
	}
	return s.stream("stderr", step.Err, stderr.Bytes(), step.SaveErr, "cli_error")
}

// stream holds one output against its pattern, and a JSON one against the
// schema of its shape, and takes the values that later steps name.
func (s *scenario) stream(at string, pattern any, output []byte, save map[string]string, shape string) error {
	var value any
	isJSON := bytes.HasPrefix(output, []byte("{"))
	if isJSON {
		if bytes.Count(output, []byte("\n")) != 1 || !bytes.HasSuffix(output, []byte("\n")) {
			return fmt.Errorf("%s: not one line of JSON: %.200q", at, output)
		}
		if err := decodeNumbers(output, &value); err != nil {
			return fmt.Errorf("%s: %w: %.200q", at, err, output)
		}
		if err := s.validate(shape, value); err != nil {
			return fmt.Errorf("%s is no %s: %w", at, shape, err)
		}
	}
	if _, isText := pattern.(string); isText || !isJSON {
		if err := match(pattern, string(output), at); err != nil {
			return err
		}
	} else if err := match(pattern, value, at); err != nil {
		return err
	}
	for name, path := range save {
		found, err := dig(value, path)
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		s.vars[name] = found
	}
	return nil
}

func (s *scenario) validate(shape string, value any) error {
	compiled := s.messages(shape)
	if compiled == nil {
		return fmt.Errorf("no schema of that name")
	}
	return compiled.Validate(value)
}

// shapeOf is the shape that a command answers in.
func shapeOf(argv []string) string {
	words := map[string]string{
		"run": "protocol_state", "stop": "protocol_state", "protocol": "protocol_state",
		"list": "list_report", "doctor": "doctor_report", "install": "change_report", "uninstall": "change_report",
	}
	switch {
	case len(argv) == 0:
		return "" // help: no JSON
	case slices.Contains(argv, "material"):
		return "action_material"
	case slices.Contains(argv, "--section"):
		return "pinned_material"
	case argv[0] == "status" && len(argv) > 1 && schema.ValidRunID(argv[1]) && !strings.HasPrefix(argv[1], "-"):
		return "run_status"
	case argv[0] == "status":
		return "status_list"
	}
	return words[argv[0]]
}

// dig follows a dotted path into a decoded value.
func dig(value any, path string) (string, error) {
	for part := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(v) {
				return "", fmt.Errorf("no item %s of %s", part, path)
			}
			value = v[i]
		}
	}
	if value == nil {
		return "", fmt.Errorf("nothing at %s", path)
	}
	return fmt.Sprint(value), nil
}

func decodeNumbers(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return decoder.Decode(into)
}
