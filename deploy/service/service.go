// Package service puts the daemon into the care of the system's service manager:
// systemd user units with socket activation and watchdog, a launchd agent, or a
// task of Windows (daemon.md, 3.3). Nobody needs it, because a client starts the
// daemon by itself; it is for those who want the daemon watched, or there from the
// start of a session.
//
//	report, err := service.Install(ctx, service.Options{Program: "/usr/bin/slipwayd", Socket: socket})
//	report, err = service.Uninstall(ctx, service.Options{})
//
// Both may be repeated. Each written file begins with a mark; a file without it is
// somebody else's and is neither replaced nor removed. Where the manager does not
// run, or refuses, the files are in place all the same and the [Report] says what
// is left to do.
//
// A socket unit owns the socket: let no daemon run while Install and Uninstall
// hand it over.
package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Options of Install and Uninstall.
type Options struct {
	// Program is the absolute path of slipwayd; Install needs it.
	Program string
	// Socket is where the daemon listens; only systemd needs it.
	Socket string
	// Environment holds "NAME=value" entries: where the user's folders are, and
	// for the programs of the manager. Default: this process's.
	Environment []string
}

// Report says what was done.
type Report struct {
	Manager string   `json:"manager"` // systemd, launchd or task-scheduler
	Files   []string `json:"files"`   // written, or removed
	Active  bool     `json:"active"`  // the manager has taken the service over
	Notes   []string `json:"notes"`   // what is left to do, and why
}

// commandTime bounds each program of a manager.
const commandTime = 30 * time.Second

// mark is in every file that Install writes.
const mark = "Written by `slipway daemon install`; `slipway daemon uninstall` removes it."

// service is what a manager needs.
type service struct {
	manager    string
	files      []file
	activate   []command
	deactivate []command
	clean      []command // after the files are gone
	byHand     string    // what a user can do where activate fails
}

type file struct {
	path    string
	content []byte
}

type command []string

// Install writes the files of the service and makes the manager take it over. Its
// error says which file could not be written, or is not ours; nothing is activated
// then.
func Install(ctx context.Context, o Options) (*Report, error) {
	if !filepath.IsAbs(o.Program) {
		return nil, fmt.Errorf("the program of the service must be an absolute path, not %q", o.Program)
	}
	s, err := o.service(runtime.GOOS)
	if err != nil {
		return nil, err
	}
	r := &Report{Manager: s.manager, Files: []string{}, Notes: []string{}}
	for _, f := range s.files {
		if err := f.checkOurs(); err != nil {
			return nil, err
		}
	}
	for _, f := range s.files {
		if err := f.write(); err != nil {
			return nil, err
		}
		r.Files = append(r.Files, f.path)
	}
	r.Active = true
	for _, c := range s.activate {
		if err := o.run(ctx, c); err != nil {
			r.Active = false
			r.Notes = append(r.Notes, err.Error(), "the files are in place; later: "+s.byHand)
			break
		}
	}
	return r, nil
}

// Uninstall makes the manager let the service go and removes its files. Where
// there are none, that is success.
func Uninstall(ctx context.Context, o Options) (*Report, error) {
	s, err := o.service(runtime.GOOS)
	if err != nil {
		return nil, err
	}
	r := &Report{Manager: s.manager, Files: []string{}, Notes: []string{}}
	var there []file
	for _, f := range s.files {
		if err := f.checkOurs(); err != nil {
			return nil, err
		}
		if _, err := os.Lstat(f.path); err == nil {
			there = append(there, f)
		}
	}
	if len(there) == 0 {
		return r, nil
	}
	for _, c := range s.deactivate {
		if err := o.run(ctx, c); err != nil {
			r.Notes = append(r.Notes, err.Error())
		}
	}
	for _, f := range there {
		if err := os.Remove(f.path); err != nil {
			return r, err
		}
		r.Files = append(r.Files, f.path)
	}
	for _, c := range s.clean {
		if err := o.run(ctx, c); err != nil {
			r.Notes = append(r.Notes, err.Error())
		}
	}
	return r, nil
}

// service is the one of an operating system.
func (o Options) service(system string) (service, error) {
	switch system {
	case "darwin":
		return o.launchd(strconv.Itoa(os.Getuid()))
	case "windows":
		return o.task()
	case "linux":
		return o.systemd()
	}
	return service{}, fmt.Errorf("there is no service for %s: start slipwayd by the means of the system", system)
}

// run runs a program of the manager.
func (o Options) run(ctx context.Context, c command) error {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, c[0], c[1:]...)
	cmd.Env = o.Environment
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(c, " "), err, bytes.TrimSpace(output))
	}
	return nil
}

// folder is a folder of the user: the value of a variable, where there is one that
// is an absolute path, or a folder below the home.
func (o Options) folder(variable string, belowHome ...string) (string, error) {
	if value := o.get(variable); variable != "" && filepath.IsAbs(value) {
		return value, nil
	}
	for _, home := range []string{"HOME", "USERPROFILE"} {
		if value := o.get(home); value != "" {
			return filepath.Join(append([]string{value}, belowHome...)...), nil
		}
	}
	return "", errors.New("HOME is not set: there is no place for the files of the service")
}

func (o Options) get(name string) string {
	if o.Environment == nil {
		return os.Getenv(name)
	}
	for i := len(o.Environment) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(o.Environment[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// checkOurs refuses a file that Install did not write.
func (f file) checkOurs() error {
	info, err := os.Lstat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() {
		content, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		if bytes.Contains(content, []byte(mark)) || bytes.Contains(content, utf16LE(mark)) {
			return nil
		}
	}
	return fmt.Errorf("%s was not written by slipway: move it away first", f.path)
}

// write puts the file in place at once, or not at all.
func (f file) write() error {
	folder := filepath.Dir(f.path)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(folder, ".slipway-")
	if err != nil {
		return err
	}
	_, err = temporary.Write(f.content)
	err = errors.Join(err, temporary.Chmod(0o644), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), f.path)
	}
	if err != nil {
		os.Remove(temporary.Name())
	}
	return err
}
