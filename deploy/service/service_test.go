package service

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

func options(dir string) Options {
	return Options{
		Program:     `/opt/100% "sure"/slipwayd`,
		Socket:      dir + "/run/slipway/d1.sock",
		Environment: []string{"HOME=" + dir, "XDG_RUNTIME_DIR=" + dir + "/run/", "PATH=" + os.Getenv("PATH")},
	}
}

func TestUnits(t *testing.T) {
	s, err := options("/h").systemd()
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range s.files {
		paths = append(paths, f.path)
		if !strings.HasPrefix(string(f.content), "# "+mark) || strings.Contains(string(f.content), "{{") {
			t.Errorf("%s:\n%s", f.path, f.content)
		}
	}
	if want := []string{"/h/.config/systemd/user/slipway.socket", "/h/.config/systemd/user/slipway.service"}; !slices.Equal(paths, want) {
		t.Errorf("files %v", paths)
	}
	if !strings.Contains(string(s.files[0].content), "\nListenStream=%t/slipway/d1.sock\n") {
		t.Errorf("the socket unit:\n%s", s.files[0].content)
	}
	if !strings.Contains(string(s.files[1].content), "\n"+`ExecStart="/opt/100%% \"sure\"/slipwayd"`+"\n") {
		t.Errorf("the service unit:\n%s", s.files[1].content)
	}
}

func TestOtherSocketsAreSpelledOut(t *testing.T) {
	o := options("/h")
	o.Socket = "/tmp/100%/d1.sock"
	if got := o.unitSocket(); got != "/tmp/100%%/d1.sock" {
		t.Errorf("the socket is spelled %s", got)
	}
}

func TestUnitsAreRight(t *testing.T) {
	verify, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze")
	}
	dir := t.TempDir()
	o := options(dir)
	o.Program = os.Args[0] // must be there
	s, err := o.systemd()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"verify", "--user", "--man=no"}
	for _, f := range s.files {
		if err := f.write(); err != nil {
			t.Fatal(err)
		}
		args = append(args, f.path)
	}
	cmd := exec.Command(verify, args...)
	cmd.Env = append(o.Environment, "SYSTEMD_LOG_LEVEL=warning")
	output, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(output)) {
		if strings.Contains(line, "slipway") {
			t.Errorf("systemd-analyze says: %s", line)
		}
	}
	if err != nil && strings.Contains(string(output), "slipway") {
		t.Errorf("systemd-analyze: %v", err)
	}
}

func TestAgentAndTaskAreXML(t *testing.T) {
	agent, err := options("/h").launchd("501")
	if err != nil {
		t.Fatal(err)
	}
	task, err := options("/h").task()
	if err != nil {
		t.Fatal(err)
	}
	content := task.files[0].content
	units := make([]uint16, len(content)/2)
	for i := range units {
		units[i] = uint16(content[2*i]) | uint16(content[2*i+1])<<8
	}
	text := strings.Replace(strings.TrimPrefix(string(utf16.Decode(units)), "\ufeff"), ` encoding="UTF-16"`, "", 1)
	for name, document := range map[string]string{"agent": string(agent.files[0].content), "task": text} {
		decoder, words := xml.NewDecoder(strings.NewReader(document)), []string{}
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, document)
			}
			if data, ok := token.(xml.CharData); ok {
				words = append(words, strings.TrimSpace(string(data)))
			}
		}
		if !slices.Contains(words, `/opt/100% "sure"/slipwayd`) || !strings.Contains(document, mark) {
			t.Errorf("%s:\n%s", name, document)
		}
	}
	if agent.files[0].path != "/h/Library/LaunchAgents/slipway.daemon.plist" {
		t.Errorf("the agent is at %s", agent.files[0].path)
	}
}

// fakeManager puts a systemctl on PATH that writes down how it is called.
func fakeManager(t *testing.T, status string) (o Options, calls func() string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the service of another system")
	}
	dir := t.TempDir()
	bin, log := filepath.Join(dir, "bin"), filepath.Join(dir, "calls")
	script := "#!/bin/sh\necho \"$@\" >> " + log + "\necho no bus >&2\nexit " + status + "\n"
	if err := errors.Join(os.Mkdir(bin, 0o700), os.WriteFile(filepath.Join(bin, "systemctl"), []byte(script), 0o700)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return options(dir), func() string {
		text, _ := os.ReadFile(log) // nothing was called
		_ = os.Remove(log)
		return string(text)
	}
}

func TestInstallAndUninstall(t *testing.T) {
	o, calls := fakeManager(t, "0")
	ctx := context.Background()
	for range 2 {
		r, err := Install(ctx, o)
		if err != nil || !r.Active || len(r.Files) != 2 || len(r.Notes) != 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		if got := calls(); got != "--user daemon-reload\n--user enable --now slipway.socket\n" {
			t.Errorf("install calls:\n%s", got)
		}
	}
	files := []string{}
	for _, removed := range []int{2, 0} {
		r, err := Uninstall(ctx, o)
		if err != nil || r.Active || len(r.Files) != removed || len(r.Notes) != 0 {
			t.Errorf("%+v, %v", r, err)
		}
		files = append(files, r.Files...)
	}
	if got := calls(); got != "--user disable --now slipway.socket slipway.service\n--user daemon-reload\n" {
		t.Errorf("uninstall calls:\n%s", got)
	}
	for _, path := range files {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%s is left", path)
		}
	}
}

func TestInstallWithoutAManager(t *testing.T) {
	o, _ := fakeManager(t, "1")
	r, err := Install(context.Background(), o)
	if err != nil || r.Active || len(r.Files) != 2 || !strings.Contains(strings.Join(r.Notes, "\n"), "no bus") || !strings.Contains(strings.Join(r.Notes, "\n"), "later: systemctl") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestForeignFilesStay(t *testing.T) {
	o, calls := fakeManager(t, "0")
	s, err := o.systemd()
	if err != nil {
		t.Fatal(err)
	}
	own := s.files[1].path
	if err := errors.Join(os.MkdirAll(filepath.Dir(own), 0o700), os.WriteFile(own, []byte("[Unit]\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func(context.Context, Options) (*Report, error){"install": Install, "uninstall": Uninstall} {
		if _, err := do(context.Background(), o); err == nil || !strings.Contains(err.Error(), own) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if content, err := os.ReadFile(own); err != nil || string(content) != "[Unit]\n" || calls() != "" {
		t.Errorf("the file is %q (%v)", content, err)
	}
	if _, err := os.Lstat(s.files[0].path); !os.IsNotExist(err) {
		t.Error("half a service was installed")
	}
}

func TestInstallNeedsAProgram(t *testing.T) {
	if _, err := Install(context.Background(), Options{Program: "slipwayd"}); err == nil {
		t.Error("a relative program was taken")
	}
}
