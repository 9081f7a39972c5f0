package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"crawl/seen"
)

// deduplicator is one `crawl filter dedup`.
type deduplicator struct {
	*app
	filterFlags
	exact     bool
	window    span
	statePath string
	given     func(flag string) bool

	wrong float64 // lines that it expects to have dropped though they were new
}

// frontRate is the error of the filter in front of an exact set: of so many new lines each costs a look-up in vain.
const frontRate = 0.01

func (a *app) filterDedupCommand() *cobra.Command {
	d := &deduplicator{app: a, filterFlags: filterFlags{fp: seen.DefaultFalsePositiveRate, memory: seen.DefaultMaxBytes}}
	cmd := &cobra.Command{
		Use:   "dedup [--fp P | --exact] [--window TIME] [--state FILE] < LINES",
		Short: "Print each line the first time it comes",
		Long: `Print each line of standard input the first time it comes, in order, as soon as it comes. The price is that a new line is
taken for one that was there with a chance of at most --fp, and dropped without a trace: how many that must have been is said
at the end.

The filter grows as lines come, by parts each twice as large as the one before. Past three million different lines that takes,
for each, in bytes of memory,

               --items known    grows
  --fp 1%      2                2.5 to 4.5
  --fp 0.1%    3                3.5 to 6.5
  --exact      2, and 75 MiB    2.5 to 4.5, and 75 MiB; on the disk 5 to 9, twice that at times
  --window     3 to 9           3 to 12, the most where all lines come within an eighth of it

With --exact nothing is dropped wrongly: hashes go to the disk, and what the filter takes for known is looked up there: in
the folder for temporary files ($TMPDIR) or in the folder that --state names. What remains is two lines with one 64-bit hash:
0.03 expected among 10^9 lines.

With --window a line counts as new again when it was printed longer ago than that, at the latest an eighth longer.

With --state the filter is kept from one run to the next: in a file that is replaced when the input ends, or at a signal;
with --exact in a folder. A line is remembered only if it was written. After a kill, or when nobody reads the output any
longer, lines may be printed again by the next run; none is lost. The state is the filter that was given first: it keeps
its --fp and --window. It holds the secret key of its hash. FILE.lock beside it keeps two runs apart.

Past --memory a filter takes further lines and errs more, which is said at the end.`,
		Example: `  crawl filter dedup < urls.txt > once.txt
  tail -f reports.log | crawl filter dedup --window 90d --state reports.seen`,
		Args: fromInput,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.given = cmd.Flags().Changed
			if d.exact && d.window > 0 {
				return usagef("filter dedup: --exact forgets nothing: leave out --window, or --exact")
			}
			if d.given("window") && d.window == 0 {
				return usagef("--window: want more than 0")
			}
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			return d.run(ctx)
		},
	}
	fs := cmd.Flags()
	d.register(fs)
	fs.BoolVar(&d.exact, "exact", false, "drop nothing wrongly: what the filter takes for known is looked up on the disk")
	fs.Lookup("fp").DefValue = "0.1%; with --exact 1%, and then of new lines looked up in vain"
	fs.Var(&d.window, "window", "take a line for new again after this time: 90d, 36h (default: never)")
	fs.StringVar(&d.statePath, "state", "", "`file` that keeps the filter from one run to the next; with --exact a folder")
	return cmd
}

func (d *deduplicator) run(ctx context.Context) (err error) {
	memory, err := d.open()
	if err != nil {
		return err
	}
	s := &sieve{
		hash: memory.Hash, answer: d.counting(memory), out: d.stdout, disk: d.exact, shown: d.sieving("read", "kept"),
	}
	err = s.run(ctx, d.stdin)
	d.stderr.setStatus("")
	if forgets(err) {
		if memory.abandon(); d.statePath != "" && errors.Is(closedPipe(err), errClosedPipe) {
			d.say("nobody reads the output any longer: %s keeps what it had", d.statePath)
		}
		if errors.Is(err, seen.ErrDamaged) && d.statePath != "" {
			return d.explainState(err)
		}
		return err
	}
	if keepErr := memory.keep(); keepErr != nil {
		return errors.Join(err, keepErr)
	}
	d.report(s, memory)
	return err
}

// forgets reports whether an error leaves lines in the filter that were not written. One of the input does not, nor does a
// signal.
func forgets(err error) bool {
	_, output := errors.AsType[*outputError](err)
	_, question := errors.AsType[*answerError](err)
	return output || question
}

// counting asks the filter, and counts what it must have got wrong: for each line that it called new, p/(1-p) new lines
// were called known.
func (d *deduplicator) counting(f seen.Filter) func([]uint64, []bool) error {
	return func(hashes []uint64, answers []bool) error {
		if err := f.TestAndAddBatch(hashes, answers); err != nil {
			return err
		}
		fresh := 0
		for _, known := range answers {
			if !known {
				fresh++
			}
		}
		if p := f.Rate(); fresh > 0 && p < 1 {
			d.wrong += float64(fresh) * p / (1 - p)
		}
		return nil
	}
}

// report says how it went.
func (d *deduplicator) report(s *sieve, f *memory) {
	st := f.Stats()
	if st.Capped {
		d.log.Warn("the filter is full, and errs more than it should: pass a larger --memory, or --exact", "items", st.Items,
			"made_for", st.Capacity, "fp", st.Rate)
	}
	dropped := s.lines - s.kept
	if d.json {
		d.log.Info("deduplicated", "lines", s.lines, "kept", s.kept, "dropped", dropped, "expected_wrong", d.wrong, "fp", st.Rate,
			"filter_bytes", st.Bytes)
		return
	}
	d.say("%s, %s kept, %s dropped; dropped wrongly: %s expected; error %s, filter %s", plural(s.lines, "line", "lines"),
		count(s.kept), count(dropped), expected(d.wrong), errorRate(st.Rate), size(uint64(st.Bytes)))
}

// expected writes a number that is a mean.
func expected(n float64) string {
	switch {
	case n < 0.01:
		return "none"
	case n < 10:
		return fmt.Sprintf("about %.2g", n)
	}
	return "about " + count(uint64(n+0.5))
}

// memory is what a deduplicator remembers lines by.
type memory struct {
	seen.Filter
	keep    func() error // at a good end: the next run goes on from here
	abandon func() error // at any other
}

// open makes the memory, or reads it where a run before has left it.
func (d *deduplicator) open() (*memory, error) {
	switch {
	case d.exact:
		return d.openExact()
	case d.statePath != "":
		return d.openState()
	}
	f, err := d.newFilter()
	if err != nil {
		return nil, err
	}
	nothing := func() error { return nil }
	return &memory{Filter: f, keep: nothing, abandon: nothing}, nil
}

// newFilter returns an empty filter that grows.
func (d *deduplicator) newFilter() (f seen.Filter, err error) {
	if d.window > 0 {
		f, err = seen.NewWindow(seen.WindowConfig{Config: d.config(), Span: time.Duration(d.window)})
	} else {
		f, err = seen.NewScalable(d.config())
	}
	return f, d.explain(err)
}
