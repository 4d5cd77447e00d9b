package main

import (
	"context"

	"slipway/deploy/service"
	"slipway/rpc"
	"slipway/schema"
)

// daemonInstallCommand is `slipway daemon install`.
type daemonInstallCommand struct {
	patience
	format
}

func (c *daemonInstallCommand) run(s *session) error {
	return s.service(c.patience, c.JSON, service.Install)
}

// daemonUninstallCommand is `slipway daemon uninstall`.
type daemonUninstallCommand struct {
	patience
	format
}

func (c *daemonUninstallCommand) run(s *session) error {
	return s.service(c.patience, c.JSON, service.Uninstall)
}

// service hands the daemon over to the service manager, or takes it back. None may
// run meanwhile: the manager wants the socket for itself.
func (s *session) service(p patience, asJSON bool, do func(context.Context, service.Options) (*service.Report, error)) error {
	s.at(place{patience: p})
	ctx := context.Background()
	program, err := rpc.Program(s.options())
	if err != nil {
		return err
	}
	if _, err := rpc.Stop(ctx, s.options()); err != nil {
		return err
	}
	where, err := rpc.Place(ctx, nil)
	if err != nil {
		return err
	}
	report, err := do(ctx, service.Options{Program: program, Socket: where.Socket})
	if err != nil {
		return err
	}
	if asJSON {
		answer, err := schema.Marshal(report)
		if err != nil {
			return err
		}
		return s.printAnswer(jsonLine(answer))
	}
	return s.printAnswer([]byte(serviceText(report)))
}

// serviceText is the report for people.
func serviceText(r *service.Report) string {
	page := newPage()
	page.fact("Service manager", r.Manager)
	for _, path := range r.Files {
		page.fact("File", path)
	}
	page.fact("In its care", map[bool]string{true: "yes", false: "no"}[r.Active])
	for _, note := range r.Notes {
		page.fact("Note", note)
	}
	return page.finish()
}
