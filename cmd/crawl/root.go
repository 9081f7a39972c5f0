package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// app is what every command works with. stdout is for data only; stderr is for people.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	stderr *console
	line   []string // the arguments as they were given

	quiet   bool
	verbose bool
	json    bool
	log     *slog.Logger // set once the flags are read
}

// run executes one command line and returns its exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: newConsole(stderr), line: args}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return a.exitCode(root.Execute())
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "crawl",
		Short:         "A web crawler that loses no page and hammers no site",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       buildVersion(),
		Args:          args(cobra.NoArgs),
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.log = a.logger()
			return refuseEmpty(cmd)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "say errors only")
	root.PersistentFlags().BoolVarP(&a.verbose, "verbose", "v", false, "say more")
	root.PersistentFlags().BoolVar(&a.json, "json", false, "write data, and log lines, as JSON")
	root.SetVersionTemplate(versionLine())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if name := a.misnamed(cmd); name != "" {
			return &usageError{unknownCommand(cmd, name)}
		}
		return flagError(cmd, err)
	})
	root.AddCommand(a.runCommand(), a.resumeCommand(), a.statsCommand(), a.verifyCommand(), a.pauseCommand(), a.stopCommand(), a.addCommand(), a.retryCommand(), a.whyCommand(), a.setCommand(),
		a.inspectCommand(), a.exportCommand(), a.filterCommand(), a.demoCommand(), a.versionCommand())
	return root
}

// usageError is what the user can mend on the command line or in the configuration.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// args wraps cobra's argument checks, so that they count as usage errors.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		err := check(cmd, given)
		switch {
		case err == nil:
			return nil
		case cmd.HasSubCommands():
			return &usageError{unknownCommand(cmd, given[0])}
		}
		_, name, _ := strings.Cut(cmd.CommandPath(), " ")
		return &usageError{fmt.Errorf("%s: %w", name, err)}
	}
}

// misnamed returns what stands where a command should, after one that only has others, and is none: a flag behind it is
// unknown for no other reason. "" if nothing does.
func (a *app) misnamed(cmd *cobra.Command) string {
	if !cmd.HasSubCommands() {
		return ""
	}
	_, rest, err := cmd.Root().Find(a.line)
	if err != nil {
		return ""
	}
	for _, arg := range rest {
		name, short := strings.CutPrefix(arg, "-")
		long, isLong := strings.CutPrefix(name, "-")
		switch flags := cmd.Flags(); {
		case !short:
			return arg
		case isLong && flags.Lookup(long) == nil, !isLong && (len(name) != 1 || flags.ShorthandLookup(name) == nil):
			return "" // it is this flag that is unknown, and perhaps its value that follows
		}
	}
	return ""
}

// unknownCommand names what may have been meant.
func unknownCommand(parent *cobra.Command, name string) error {
	hint := "see " + parent.CommandPath() + " --help"
	parent.SuggestionsMinimumDistance = 2 // cobra's own choice, which it makes only in a check that is not ours
	if near := parent.SuggestionsFor(name); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q: %s", name, hint)
}

// isTerminal reports whether a stream is one a person looks at or types into.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
