package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"crawl/seen"
)

func (a *app) filterTestCommand() *cobra.Command {
	absent := false
	cmd := &cobra.Command{
		Use:   "test [-v] FILE < LINES",
		Short: "Print the lines that may be in a filter, or those that are surely not",
		Long: `Print the lines of standard input that may be in a filter: all that are, and of the others a share, the filter's error. With
-v print those that are surely not in it. Of a filter that was built with --exact both are certain.

It exits with 0 when it has printed a line, with 1 when there was none to print, with 3 when the filter is damaged, and with 2
when it cannot tell for another reason: 1 is an answer, never a failure.`,
		Example: `  crawl filter test deny.filter < urls.txt
  crawl filter test -v deny.filter < urls.txt > allowed.txt`,
		Args: wants(cobra.ExactArgs(1), "one filter's file"),
		RunE: func(cmd *cobra.Command, given []string) (err error) {
			defer func() { err = notAnAnswer(err) }()
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			f, err := openFilter(given[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, f.close()) }()
			s := &sieve{
				hash: f.Hash, answer: f.HasBatch, wanted: !absent, out: a.stdout, disk: f.kind() == seen.KindTable,
				shown: a.sieving("tested", "printed"),
			}
			err = s.run(ctx, a.stdin)
			a.stderr.setStatus("")
			switch {
			case err != nil:
				return explainFilterIn(err, f.path)
			case s.kept == 0:
				return noneError(s.lines, f.path, absent)
			}
			return nil
		},
	}
	fs := cmd.Flags()
	fs.BoolVarP(&absent, "invert-match", "v", false, "print the lines that are surely not in it")
	fs.BoolVar(&a.verbose, "verbose", false, "say more") // -v is taken, as by grep
	return cmd
}

// notAnAnswer keeps a failure from ending with the exit code that says that no line is in the filter.
func notAnAnswer(err error) error {
	if err == nil || errors.Is(err, errNone) || codeOf(err) != exitFailed {
		return err
	}
	return &usageError{err}
}

// errNone: no line was printed.
var errNone = errors.New("no line is printed")

func noneError(lines uint64, path string, absent bool) error {
	if absent {
		return fmt.Errorf("%w: of %s all may be in %s", errNone, plural(lines, "line", "lines"), path)
	}
	return fmt.Errorf("%w: of %s none is in %s", errNone, plural(lines, "line", "lines"), path)
}
