package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"crawl/internal/config"
	"crawl/seen"
)

func (a *app) filterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "filter",
		Short: "Make, ask and join filters: denylists, names taken, lines without their duplicates",
		Long: `Make, ask and join filters, which remember lines in a few bits each. A filter errs one way only: a line that is in it is
always found; of those that are not, it takes a share for one that is. --fp bounds that share. Where it must be none, --exact
looks each "maybe" up.

A line is all before its newline, byte for byte: empty lines count, a carriage return belongs to its line, and the last line
needs no newline. One longer than 256 MiB is an error; a long one takes some five times its length of memory.

A filter's file holds the secret key of its hash, and so is readable for its owner only. Who has the file can make lines
that the filter takes for others: ship one only to those who may.`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.filterSizeCommand(), a.filterBuildCommand(), a.filterTestCommand(), a.filterDedupCommand(),
		a.filterMergeCommand(), a.filterInfoCommand())
	return cmd
}

// filterFlags are what several of the commands ask.
type filterFlags struct {
	fp     config.Rate
	items  config.Count
	memory config.Size
}

func (f *filterFlags) register(fs *pflag.FlagSet) {
	fs.Var(&f.fp, "fp", "error: the share of lines not in the filter that it takes for lines in it")
	fs.Var(&f.items, "items", "different lines that are expected")
	fs.Var(&f.memory, "memory", "most memory of the filter")
}

// config is what the flags say, judged by a kind's own check.
func (f *filterFlags) config() seen.Config {
	return seen.Config{FalsePositiveRate: float64(f.fp), ExpectedItems: uint64(f.items), MaxBytes: int64(f.memory)}
}

// explain turns what a filter says of its settings into what the command line says of them.
func (f *filterFlags) explain(err error) error {
	if err == nil {
		return nil
	}
	var texts []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		for key, flag := range map[string]string{"fp": "--fp", "seen_memory": "--memory", "window": "--window"} {
			if rest, ours := strings.CutPrefix(line, key+": "); ours {
				line = flag + ": " + rest
			}
		}
		if f.items == 0 { // a flag that was not given has a default that its help does not name
			line = strings.Replace(line, fmt.Sprintf(" expect %d ", seen.DefaultFirstItems),
				fmt.Sprintf(" %s lines, which it is made for without --items, ", count(seen.DefaultFirstItems)), 1)
		}
		texts = append(texts, strings.NewReplacer(" expect ", " --items ", " at fp ", " at --fp ").Replace(line))
	}
	return usagef("%s", strings.Join(texts, "\n"))
}

// span is a length of time that may be given in days: 90d.
type span time.Duration

const day = 24 * time.Hour

// Set implements pflag.Value.
func (s *span) Set(text string) error {
	if number, days := strings.CutSuffix(text, "d"); days {
		n, err := strconv.ParseUint(number, 10, 16)
		if err != nil {
			return fmt.Errorf("want a time such as 90d or 36h, got %q", text)
		}
		*s = span(time.Duration(n) * day)
		return nil
	}
	var d config.Duration
	if err := d.Set(text); err != nil {
		return fmt.Errorf("want a time such as 90d or 36h, got %q", text)
	}
	*s = span(d)
	return nil
}

// String writes whole days as such.
func (s span) String() string {
	switch d := time.Duration(s); {
	case d == 0:
		return "0" // which help takes for no default
	case d%day != 0:
		return config.Duration(d).String()
	}
	return strconv.FormatInt(int64(time.Duration(s)/day), 10) + "d"
}

// Type implements pflag.Value.
func (span) Type() string { return "time" }

// fingerprint names a filter's key without giving it away: two filters have the same one if their keys are the same.
func fingerprint(seed uint64) string {
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("crawl filter key "), seed))
	return hex.EncodeToString(sum[:4])
}

// untilSignal returns a context that the first signal ends, with a *signalError. The second one ends the process.
func untilSignal(ctx context.Context) (context.Context, func()) {
	ctx, end := context.WithCancelCause(ctx)
	caught, over, ended := make(chan os.Signal, 2), make(chan struct{}), make(chan struct{})
	signal.Notify(caught, endingSignals()...)
	go func() {
		defer close(ended)
		endAt(caught, over, end)
	}()
	return ctx, func() {
		signal.Stop(caught)
		close(over)
		<-ended
		end(nil)
	}
}

// sieving shows how far a sieve is, on a terminal that its lines do not go to.
func (a *app) sieving(doing, kept string) func(*sieve) {
	if a.quiet || !a.stderr.terminal || isTerminal(a.stdout) {
		return nil
	}
	began := time.Now()
	shown := began
	return func(s *sieve) {
		now := time.Now()
		if now.Sub(shown) < time.Second/5 {
			return
		}
		shown = now
		seconds := now.Sub(began).Seconds()
		a.stderr.setStatus(fmt.Sprintf("%s  %s: %s, %s %s  %s/s", clockTime(seconds), doing,
			plural(s.lines, "line", "lines"), count(s.kept), kept, size(uint64(float64(s.bytes)/seconds))))
	}
}

// per returns a quotient, and 0 of nothing.
func per(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
