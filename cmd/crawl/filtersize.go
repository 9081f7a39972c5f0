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
	Kind       seen.Kind `json:"kind"`
	Items      uint64    `json:"items"`
	FP         float64   `json:"fp"` // once all items are in
	Bits       uint64    `json:"bits"`
	BitsPerKey float64   `json:"bits_per_key"`
	Bytes      uint64    `json:"bytes"`                // of memory
	DiskBytes  uint64    `json:"disk_bytes,omitempty"` // of a file that is asked
	Hashes     int       `json:"hashes,omitempty"`     // bits that a key sets

	note string
}

func (a *app) filterSizeCommand() *cobra.Command {
	var plan struct {
		filterFlags
		bits   config.Size
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
		Args: args(cobra.NoArgs),
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
	fs.Var(&plan.bits, "bits", "bits of the filter")
	fs.IntVar(&plan.hashes, "hashes", 0, "bits that each line sets (default: the best number)")
	return cmd
}

// kindName is what a kind is called, with what tells it apart.
func kindName(kind seen.Kind) string {
	switch kind {
	case seen.KindBloom:
		return "bloom, blocked"
	case seen.KindClassic:
		return "bloom, classic"
	case seen.KindTable:
		return "exact, on disk"
	case seen.KindScalable:
		return "scalable"
	}
	return string(kind)
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
			rows = append(rows, sizeRow{Kind: kind, Items: items, note: flagText(err)})
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
		Kind: s.Kind, Items: s.Items, FP: s.Rate, Bits: s.Bits, BitsPerKey: per(float64(s.Bits), float64(s.Items)),
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

// flagText is an error of settings in one line.
func flagText(err error) string {
	return strings.ReplaceAll(strings.ReplaceAll(err.Error(), seen.ErrPlan.Error()+": ", ""), "\n", "; ")
}

func writeSizes(out io.Writer, rows []sizeRow) error {
	lines := [][]string{{"kind", "items", "bits a key", "memory", "on disk", "hashes", "error", ""}}
	for _, r := range rows {
		line := []string{kindName(r.Kind), count(r.Items), "-", "-", "-", "-", "-", r.note}
		if r.Bits > 0 {
			line[2], line[3], line[6] = fmt.Sprintf("%.1f", r.BitsPerKey), size(r.Bytes), errorRate(r.FP)
		}
		if r.DiskBytes > 0 {
			line[4] = size(r.DiskBytes)
		}
		if r.Hashes > 0 {
			line[5] = strconv.Itoa(r.Hashes)
		}
		lines = append(lines, line)
	}
	_, err := io.WriteString(out, columns(lines))
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

// errorRate writes a share with three digits that mean something.
func errorRate(p float64) string {
	switch {
	case p == 0:
		return "none"
	case p < 1e-9:
		return fmt.Sprintf("%.0e", p)
	}
	_, exponent, _ := strings.Cut(fmt.Sprintf("%.2e", p*100), "e")
	e, err := strconv.Atoi(exponent)
	if err != nil { // not a number
		return fmt.Sprint(p)
	}
	return fmt.Sprintf("%.*f%%", max(0, 2-e), p*100)
}
