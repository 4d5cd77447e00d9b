package main

import (
	"context"
	"os"

	"slipway/deploy"
	"slipway/rpc"
	"slipway/schema"
)

// The commands about host adapters (adapters.md).

// listCommand is `slipway list`.
type listCommand struct {
	place
	format
}

func (c *listCommand) run(s *session) error {
	s.at(c.place)
	return show(s, "adapter/list", rootParams{s.root}, c.JSON, paperOf(os.Stdout).hosts)
}

// tools are the hosts that a command is about.
type tools struct {
	Tool []string `sep:"none" placeholder:"ID[,ID]" help:"A host, several separated by commas, or all; may be repeated. Without it, install takes the hosts found here and uninstall those that have Slipway."`
}

// check holds the lists against their grammar.
func (t tools) check() error {
	if err := deploy.ToolsFault(t.Tool); err != nil {
		return usageFault{err.Error()}
	}
	return nil
}

// given are the lists as parameters: nothing where the flag was not there.
func (t tools) given() *[]string {
	if t.Tool == nil {
		return nil
	}
	return &t.Tool
}

// installCommand is `slipway install`.
type installCommand struct {
	place
	format
	tools
	Surface string `placeholder:"ide|cli" help:"The surface of Kiro to install for; needed the first time."`
	Refresh bool   `help:"Bring generated files that nobody has edited since up to this version."`
}

// adapterParams are the parameters of adapter/install and adapter/uninstall.
type adapterParams struct {
	Root    string    `json:"root"`
	Tool    *[]string `json:"tool,omitempty"`
	Surface string    `json:"surface,omitempty"`
	Refresh bool      `json:"refresh,omitempty"`
}

func (c *installCommand) run(s *session) error {
	s.at(c.place)
	if err := c.tools.check(); err != nil {
		return err
	}
	params := adapterParams{s.root, c.given(), wireText(c.Surface), c.Refresh}
	return show(s, "adapter/install", params, c.JSON, paperOf(os.Stdout).changes((*deploy.ChangeReport).InstallText))
}

// uninstallCommand is `slipway uninstall`.
type uninstallCommand struct {
	place
	format
	tools
}

func (c *uninstallCommand) run(s *session) error {
	s.at(c.place)
	if err := c.tools.check(); err != nil {
		return err
	}
	params := adapterParams{Root: s.root, Tool: c.given()}
	return show(s, "adapter/uninstall", params, c.JSON, paperOf(os.Stdout).changes((*deploy.ChangeReport).UninstallText))
}

// doctorCommand is `slipway doctor`.
type doctorCommand struct {
	place
	format
}

// doctorParams are the parameters of doctor/run. What GitHub's tool can do is a
// fact of this process's environment, so it is looked at here.
type doctorParams struct {
	Root   string              `json:"root"`
	GitHub *deploy.GitHubFacts `json:"github"`
}

func (c *doctorCommand) run(s *session) error {
	s.at(c.place)
	ctx := context.Background()
	workspace, err := s.keeper().Workspace(ctx, s.caller())
	if err != nil {
		return err
	}
	answer, err := s.call("doctor/run", doctorParams{s.root, deploy.ProbeGitHub(ctx, os.Environ(), workspace.WorktreeRoot)})
	if err != nil {
		return err
	}
	report, err := decode[deploy.DoctorReport](answer)
	if err != nil {
		return err
	}
	report.Checks = append(report.Checks, rpc.Checks(rpc.Status(ctx, s.options()))...)
	if !c.JSON {
		return s.printAnswer([]byte(paperOf(os.Stdout).checks(report)))
	}
	line, err := schema.Marshal(report)
	if err != nil {
		return err
	}
	return s.printAnswer(jsonLine(line))
}
