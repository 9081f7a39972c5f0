package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"crawl/crawler"
)

func (a *app) verifyCommand() *cobra.Command {
	var repair bool
	cmd := &cobra.Command{
		Use:   "verify [DIR]",
		Short: "Read all of a crawl that does not run, and name what is damaged",
		Long: `Read all of a crawl that does not run: its checkpoint, logs, runs, filter and page records, and whether they agree. Nothing
is changed without --repair, which makes again what can be made again: state.db from the file checkpoint, runs and filter from
the logs, counters from logs and page records. Exit code 0: it is sound, or was repaired; 3: it is damaged.`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			dir, err := dirOf(given)
			if err != nil {
				return err
			}
			report, err := crawler.Verify(cmd.Context(), dir, crawler.VerifyOptions{Repair: repair, Progress: a.verifying()})
			a.stderr.setStatus("")
			if err != nil {
				return explain(err, dir)
			}
			if err := a.printReport(report, dir); err != nil {
				return err
			}
			if !report.Sound {
				return fmt.Errorf("%s %w: %s", dir, errDamaged, plural(uint64(len(report.Damage)), "finding", "findings"))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "make again what can be made again")
	return cmd
}

// verifying shows how far a verification is, a few times a second at most.
func (a *app) verifying() func(part string, done, total uint64) {
	var shown time.Time
	last := ""
	return func(part string, done, total uint64) {
		now := time.Now()
		if a.quiet || part == last && now.Sub(shown) < time.Second/5 {
			return
		}
		last, shown = part, now
		if total > 1 {
			a.stderr.setStatus(fmt.Sprintf("verifying %s: %s of %s", part, count(done), count(total)))
			return
		}
		a.stderr.setStatus("verifying " + part)
	}
}

func (a *app) printReport(r crawler.Report, dir string) error {
	if a.json {
		return json.NewEncoder(a.stdout).Encode(r)
	}
	return writeReport(a.stdout, r, dir)
}

// writeReport is the report for a person: a paragraph for each damage, then what was verified.
func writeReport(out io.Writer, r crawler.Report, dir string) (err error) {
	line := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(out, format+"\n", args...)
		}
	}
	for _, d := range r.Damage {
		where := d.File
		if d.Offset >= 0 {
			where += fmt.Sprintf(", byte %d", d.Offset)
		}
		line("%s: %s", where, d.Problem)
		line("    lost: %s", d.Lost)
		line("    to do: %s", d.Mend)
	}
	for _, what := range r.Unchecked {
		line("not checked: %s", what)
	}
	for _, what := range r.Repaired {
		line("repaired %s", what)
	}
	if r.Sound {
		line("%s is sound: checkpoint %s, %s admitted, %s done, %s pending, %s", dir, count(r.Checkpoint),
			plural(r.Admitted, "URL", "URLs"), count(r.Done), count(r.Pending), plural(r.Records, "page record", "page records"))
	}
	return err
}
