package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/spf13/cobra"

	"slipway/deploy"
	"slipway/schema"
)

// Shells complete through scripts that ask this program what can follow. Cobra
// has both halves for all four shells; it is fed from the table of commands and
// sees no other line than theirs.

// bashWords stands in for the one function of the package bash-completion that
// Cobra's script needs, where that package is not there: macOS and most containers
// have bash without it. It splits at white space only, and sees no quotes.
const bashWords = `if ! declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
    _get_comp_words_by_ref() {
        local line="${COMP_LINE:0:COMP_POINT}"
        read -ra words <<<"$line"
        [[ $line == *[[:space:]] ]] && words+=("")
        cword=$((${#words[@]} - 1))
        cur="${words[cword]}"
        prev="${words[cword - 1]}"
    }
fi

`

// completionCommand is `slipway completion SHELL`.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"The shell: bash, zsh, fish or powershell."`
}

func (c *completionCommand) run(s *session) error {
	s.setRoot("")
	root := (&completer{}).tree()
	var script bytes.Buffer
	var err error
	switch c.Shell {
	case "bash":
		script.WriteString(bashWords)
		err = root.GenBashCompletionV2(&script, true)
	case "zsh":
		err = root.GenZshCompletion(&script)
	case "fish":
		err = root.GenFishCompletion(&script, true)
	default:
		err = root.GenPowerShellCompletionWithDesc(&script)
	}
	if err != nil {
		return err
	}
	return s.printAnswer(script.Bytes())
}

// asksForCompletion tells a line that a completion script wrote.
func asksForCompletion(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// complete answers a completion script. Where nothing can be known, nothing is
// offered: a person who presses a key wants no error.
func complete(s *session, args []string) int {
	root := (&completer{session: s}).tree()
	root.SetArgs(args)
	if err := root.Execute(); err != nil {
		return exitNoError
	}
	return 0
}

// completionPatience is how long a pressed key may wait for the daemon.
const completionPatience = 2 * time.Second

// completer offers what can follow on a line.
type completer struct {
	session *session
}

// tree is the table of commands as cobra knows commands.
func (c *completer) tree() *cobra.Command {
	root := &cobra.Command{Use: "slipway", SilenceErrors: true, SilenceUsage: true}
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().String("root", "", "a folder or file inside the worktree")
	root.Flags().Bool("version", false, "show the version")
	under := map[string]*cobra.Command{}
	for _, g := range groups {
		under[g.name] = &cobra.Command{Use: g.name, Short: g.brief}
		root.AddCommand(under[g.name])
	}
	for i := range commands {
		group, name, inGroup := strings.Cut(commands[i].name, " ")
		if inGroup {
			under[group].AddCommand(c.leaf(&commands[i], name))
		} else {
			root.AddCommand(c.leaf(&commands[i], group))
		}
	}
	// Cobra adds a command "help", which is none of ours, unless it has one already.
	root.SetHelpCommand(under["protocol"])
	return root
}

// leaf is one command with its flags.
func (c *completer) leaf(command *command, name string) *cobra.Command {
	leaf := &cobra.Command{Use: name, Short: command.brief, Run: func(*cobra.Command, []string) {}}
	parser, err := command.parser(command.model())
	if err != nil {
		return leaf
	}
	for _, flag := range parser.Model.Flags {
		switch {
		case flag.Name == "root": // has every command
			continue
		case flag.IsBool():
			leaf.Flags().Bool(flag.Name, false, flag.Help)
			continue
		}
		leaf.Flags().String(flag.Name, "", flag.Help)
		if offer := c.offerFor(flag, command.name); offer != nil {
			// The flag was added just now, so that it can not be missing.
			_ = leaf.RegisterFlagCompletionFunc(flag.Name, offer)
		}
	}
	leaf.ValidArgsFunction = c.offerArgument(parser.Model.Positional, command.name)
	return leaf
}

// offer is a function of cobra's that lists what can stand at a place.
type offer = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// offerFor is what can be the value of a flag; nil stands for files.
func (c *completer) offerFor(flag *kong.Flag, command string) offer {
	switch {
	case strings.HasSuffix(flag.Name, "-file"):
		return nil
	case flag.Name == "run":
		return c.runs(command)
	case flag.Name == "action":
		return c.about(func(run *schema.RunStatus) []string {
			if run.CurrentAction == nil {
				return nil
			}
			return []string{run.CurrentAction.ActionID + "\t" + string(run.CurrentAction.Kind)}
		})
	case flag.Name == "section":
		return c.about(func(run *schema.RunStatus) (keys []string) {
			if run.PinnedSource != nil {
				for _, s := range run.PinnedSource.Sections {
					keys = append(keys, s.Key+"\t"+plain(s.Title))
				}
			}
			return keys
		})
	case flag.Name == "candidate":
		return c.about(func(run *schema.RunStatus) []string {
			if run.SourceCandidate == nil {
				return nil
			}
			return []string{run.SourceCandidate.CandidateID + "\t" + run.SourceCandidate.ClassificationCode}
		})
	case flag.Name == "tool":
		return fixed(append(deploy.HostIDs(), "all")...)
	case strings.Contains(flag.PlaceHolder, "|"):
		return fixed(strings.Split(flag.PlaceHolder, "|")...)
	}
	return fixed()
}

func fixed(values ...string) offer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values, cobra.ShellCompDirectiveNoFileComp
	}
}

// offerArgument is what can be the argument of a command.
func (c *completer) offerArgument(arguments []*kong.Positional, command string) offer {
	if len(arguments) == 0 {
		return fixed()
	}
	first := fixed(arguments[0].EnumSlice()...)
	if arguments[0].Name == "run" {
		first = c.runs(command)
	}
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return first(cmd, args, typed)
	}
}

// runs offers the Runs of this worktree that a command makes sense for.
func (c *completer) runs(command string) offer {
	operation := command[strings.LastIndexByte(command, ' ')+1:]
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		var ids []string
		for _, run := range c.list(cmd) {
			if suits(operation, run) {
				ids = append(ids, run.ID+"\t"+shorten(stateText(run.State, run.PauseReason)+", "+plain(run.Goal), maxReport))
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// suits tells whether the Run offers this operation now.
func suits(operation string, run *schema.RunStatus) bool {
	switch operation {
	case "stop":
		return run.State != schema.Ended
	case "submit", "answer", "skip", "resume":
		return slices.ContainsFunc(run.Next.Variants, func(v schema.Variant) bool { return slices.Contains(v.BaseArgv[:3], operation) })
	case "material":
		return run.CurrentAction != nil
	case "prune":
		return run.State == schema.Ended || run.State == schema.Stopped
	}
	return true
}

// about offers something of the Run that the line names, else of all.
func (c *completer) about(values func(*schema.RunStatus) []string) offer {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		named := slices.Clone(args)
		if flag := cmd.Flag("run"); flag != nil && flag.Changed {
			named = append(named, flag.Value.String())
		}
		var all []string
		for _, run := range c.list(cmd) {
			if len(named) == 0 || slices.Contains(named, run.ID) {
				all = append(all, values(run)...)
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// list asks for the Runs of the worktree, the latest first.
func (c *completer) list(cmd *cobra.Command) []*schema.RunStatus {
	if c.session == nil {
		return nil
	}
	c.session.setRoot(fmt.Sprint(cmd.Flag("root").Value))
	c.session.timeout = completionPatience
	answer, err := c.session.call("run/list", rootParams{c.session.root})
	if err != nil {
		return nil
	}
	list, err := decode[schema.StatusList](answer)
	if err != nil {
		return nil
	}
	var runs []*schema.RunStatus
	for _, entry := range slices.Backward(list.Runs) {
		if entry.Status != nil {
			runs = append(runs, entry.Status)
		}
	}
	return runs
}
