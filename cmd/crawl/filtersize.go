package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"crawl/internal/config"
	"crawl/seen"
)

// sizeRow is what one kind of filter takes.
type sizeRow struct {
	Kind       string  `json:"kind"`
	Items      uint64  `json:"items"`
	FP         float64 `json:"fp,omitempty"` // once all items are in
	Bits       uint64  `json:"bits,omitempty"`
	BitsPerKey float64 `json:"bits_per_key,omitempty"`
	Bytes      uint64  `json:"bytes,omitempty"`      // of memory
	DiskBytes  uint64  `json:"disk_bytes,omitempty"` // of a file that is asked
	Hashes     int     `json:"hashes,omitempty"`     // bits that a key sets
	Reason     string  `json:"reason,omitempty"`     // why it is not made so: none of the figures is there then

	note string
}

func (a *app) filterSizeCommand() *cobra.Command {
	var plan struct {
		filterFlags
		bits   bitCount
		hashes int
	}
	cmd := &cobra.Command{
		Use:   "size {--items N | --fp P | --bits M}... [--hashes K]",
		Short: "Work out what a filter takes, or how it errs",
		Long: `Work out from two of --items, --fp and --bits, with or without --hashes, what a filter takes, or how it errs. All three are
checked against each other. Each line is a kind of filter: its bits a key, its memory once all is in it, how many bits a key
sets, and the error that it really makes then.

Bits and hashes say something of bloom filters of one size alone: the other kinds are shown for the same items and error.`,
		Example: `  crawl filter size --items 200M --fp 1%
  crawl filter size --items 200M --bits 2G
  crawl filter size --bits 512Mi --fp 0.1% --json`,
		Args: onlyFlags,
		RunE: func(*cobra.Command, []string) error {
			rows, err := sizeRows(seen.Plan{
				Items: uint64(plan.items), Rate: float64(plan.fp), Bits: uint64(plan.bits), Hashes: plan.hashes,
			})
			if err != nil {
				return &usageError{err}
			}
			if a.json {
				out := a.lines()
				for _, row := range rows {
					if err := out.Encode(row); err != nil {
						return err
					}
				}
				return nil
			}
			return writeSizes(a.stdout, rows)
		},
	}
	fs := cmd.Flags()
	fs.Var(&plan.items, "items", "different lines in the filter")
	fs.Var(&plan.fp, "fp", "error: the share of lines not in the filter that it takes for lines in it")
	fs.Var(&plan.bits, "bits", "bits of the filter: 16G, 512Mi")
	fs.IntVar(&plan.hashes, "hashes", 0, "bits that each line sets (default: the best number)")
	return cmd
}

// bitCount is a number of bits. It is written as a size is, which is in bytes: so one with a B is refused.
type bitCount config.Size

// Set implements pflag.Value.
func (b *bitCount) Set(text string) error {
	var n config.Size
	err := n.Set(text)
	switch {
	case err != nil:
		return fmt.Errorf("want a number of bits such as 16G (10^9) or 512Mi (2^20), got %q", text)
	case strings.HasSuffix(text, "B"):
		unit := strings.TrimSuffix(strings.TrimLeft(text, "0123456789."), "B")
		number, err := strconv.ParseFloat(strings.TrimSuffix(text, unit+"B"), 64)
		if err != nil {
			return fmt.Errorf("want bits, not bytes, got %q", text)
		}
		return fmt.Errorf("want bits, not bytes: %s are --bits %s%s", text, strconv.FormatFloat(number*8, 'f', -1, 64), unit)
	}
	*b = bitCount(n)
	return nil
}

// String implements pflag.Value.
func (b bitCount) String() string { return config.Size(b).String() }

// Type implements pflag.Value.
func (bitCount) Type() string { return "bits" }

// kindName is a kind as it is shown to a person, with what tells two of them apart.
func kindName(kind string) string {
	switch seen.Kind(kind) {
	case seen.KindBloom:
		return "bloom, blocked"
	case seen.KindClassic:
		return "bloom, classic"
	}
	return kind
}

// sizeRows works out a line for each kind.
func sizeRows(given seen.Plan) ([]sizeRow, error) {
	var rows []sizeRow
	var items uint64
	var rate float64
	for _, layout := range []seen.Layout{seen.Blocked, seen.Classic} {
		plan := given
		plan.Layout = layout
		plan, err := plan.Solve()
		if err != nil {
			return nil, planError(err)
		}
		real := plan
		real.Rate = 0
		if real, err = real.Solve(); err != nil { // the error it makes: a rate that was asked for is a bound
			return nil, planError(err)
		}
		kind := seen.KindBloom
		if layout == seen.Classic {
			kind = seen.KindClassic
		} else {
			items, rate = plan.Items, plan.Rate
		}
		rows = append(rows, rowOf(seen.Size{Kind: kind, Items: plan.Items, Bits: plan.Bits, Hashes: plan.Hashes, Rate: real.Rate}))
	}
	for _, kind := range []seen.Kind{seen.KindScalable, seen.KindCounting, seen.KindCuckoo, seen.KindTable} {
		s, err := seen.SizeOf(kind, seen.Config{ExpectedItems: items, FalsePositiveRate: rate})
		if err != nil { // an error out of their range: they are not made so
			rows = append(rows, sizeRow{Kind: kindWord(kind), Items: items, Reason: flagText(err, rate)})
			continue
		}
		row := rowOf(s)
		if kind == seen.KindCuckoo && s.Rate > rate {
			row.note = "its error is always this"
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func rowOf(s seen.Size) sizeRow {
	return sizeRow{
		Kind: kindWord(s.Kind), Items: s.Items, FP: s.Rate, Bits: s.Bits, BitsPerKey: per(float64(s.Bits), float64(s.Items)),
		Bytes: s.Bits / 8, DiskBytes: uint64(s.DiskBytes), Hashes: s.Hashes,
	}
}

// planError says what is missing or wrong in the words of the flags.
func planError(err error) error {
	text := strings.ReplaceAll(err.Error(), seen.ErrPlan.Error()+": ", "")
	if missing, lacks := strings.CutPrefix(text, "want two of items, rate and bits, lack "); lacks {
		return fmt.Errorf("filter size: want two of --items, --fp and --bits, lack %s", strings.NewReplacer("all", "both", "rate", "fp").Replace(missing))
	}
	return errors.New("filter size: " + strings.ReplaceAll(text, "\n", "; "))
}

// flagText is an error of settings in one line, in the words of the flags.
func flagText(err error, rate float64) string {
	text := strings.ReplaceAll(strings.ReplaceAll(err.Error(), seen.ErrPlan.Error()+": ", ""), "\n", "; ")
	if rest, ours := strings.CutPrefix(text, "fp: "); ours {
		text = "--fp: " + strings.Replace(rest, fmt.Sprintf("got %g", rate), fmt.Sprintf("got %.3g", rate), 1)
	}
	return text
}

// writeSizes writes a table of the kinds that can be made so, and then which others cannot, and why.
func writeSizes(out io.Writer, rows []sizeRow) error {
	lines := [][]string{{"kind", "items", "bits a key", "memory", "on disk", "hashes", "error", ""}}
	var reasons []string
	kinds := map[string][]string{} // by reason
	for _, r := range rows {
		if r.Reason != "" {
			if kinds[r.Reason] == nil {
				reasons = append(reasons, r.Reason)
			}
			kinds[r.Reason] = append(kinds[r.Reason], kindName(r.Kind))
			continue
		}
		line := []string{
			kindName(r.Kind), count(r.Items), fmt.Sprintf("%.1f", r.BitsPerKey), size(r.Bytes), "-", "-", errorRate(r.FP), r.note,
		}
		if r.DiskBytes > 0 {
			line[4] = size(r.DiskBytes)
		}
		if r.Hashes > 0 {
			line[5] = strconv.Itoa(r.Hashes)
		}
		lines = append(lines, line)
	}
	text := columns(lines)
	for _, reason := range reasons {
		text += "not " + strings.Join(kinds[reason], ", ") + ": " + reason + "\n"
	}
	_, err := io.WriteString(out, text)
	return err
}

// columns aligns cells: the first of each line and the last, which is a remark, to the left, and numbers to the right.
func columns(lines [][]string) string {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], len(cell))
		}
	}
	var text strings.Builder
	for _, line := range lines {
		last := len(line) - 1
		row := fmt.Sprintf("%-*s", widths[0], line[0])
		for i, cell := range line[1:last] {
			row += fmt.Sprintf("   %*s", widths[i+1], cell)
		}
		text.WriteString(strings.TrimRight(row+"   "+line[last], " ") + "\n")
	}
	return text.String()
}

// errorRate writes a share with three digits that mean something: as a percentage, or below 0.001% as a power of ten.
func errorRate(p float64) string {
	if p == 0 {
		return "none"
	}
	number := p
	if p >= 1e-5 {
		number = p * 100
	}
	mantissa, exponent, _ := strings.Cut(fmt.Sprintf("%.2e", number), "e")
	power, err := strconv.Atoi(exponent)
	switch {
	case err != nil: // not a number
		return fmt.Sprint(p)
	case p < 1e-5:
		return mantissa + "e" + strconv.Itoa(power)
	}
	return fmt.Sprintf("%.*f%%", max(0, 2-power), number)
}
