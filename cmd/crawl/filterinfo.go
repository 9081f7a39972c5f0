package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"crawl/internal/config"
	"crawl/seen"
)

// filterFacts is what `filter info` tells.
type filterFacts struct {
	File       string     `json:"file"`
	Kind       string     `json:"kind"`
	Items      uint64     `json:"items"`
	Capacity   uint64     `json:"capacity"` // items it was made for, so far
	Layers     int        `json:"layers"`
	Hashes     int        `json:"hashes,omitempty"` // bits or counters that a line sets, in the newest layer
	Bits       uint64     `json:"bits"`
	BitsPerKey float64    `json:"bits_per_key"`         // of the items it was made for, or has if they are more
	Bytes      int64      `json:"bytes"`                // of memory
	FileBytes  int64      `json:"file_bytes,omitempty"` // on the disk
	Fill       float64    `json:"fill"`                 // share of the bits, counters or slots that are set
	FP         float64    `json:"fp"`                   // now
	TargetFP   float64    `json:"fp_target"`            // at capacity; of an exact one, of the filter in front
	Capped     bool       `json:"capped"`               // it holds more than it was made for
	WindowS    float64    `json:"window_s,omitempty"`
	Hash       string     `json:"hash"`
	Key        string     `json:"key"` // fingerprint
	Written    *time.Time `json:"written,omitempty"`
}

func (a *app) filterInfoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info FILE|FOLDER",
		Short: "Tell what a filter holds, what it takes and how it errs, and check all of it",
		Long: `Read all of a filter's file, check it, and tell what the filter holds, what it takes and how it errs now. Of its key only a
fingerprint is shown, by which two filters with one key can be told. Exit code 3: it is damaged, and where is said.

Of the folder in which dedup --exact --state keeps its lines, it does the same. Memory and fill are those of the filter that is
made in front of them.`,
		Args: wants(cobra.ExactArgs(1), "one filter"),
		RunE: func(_ *cobra.Command, given []string) (err error) {
			f, err := openFilterOrState(given[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, f.close()) }()
			if table, ok := f.asked.(*seen.Table); ok {
				if err := table.Verify(); err != nil {
					return explainFilter(err, f.path)
				}
			}
			facts := factsOf(f)
			if a.json {
				return a.lines().Encode(facts)
			}
			return facts.write(a.stdout)
		},
	}
}

func factsOf(f *filterFile) filterFacts {
	st := f.Stats()
	facts := filterFacts{
		File: f.path, Kind: kindWord(st.Kind), Items: f.Len(), Capacity: st.Capacity, Layers: st.Layers, Bits: st.Bits,
		BitsPerKey: per(float64(st.Bits), float64(max(st.Items, st.Capacity))), Bytes: st.Bytes, FileBytes: f.bytes, Fill: st.Fill, FP: st.Rate,
		TargetFP: st.TargetRate, Capped: st.Capped, WindowS: f.window.Span.Seconds(),
		Hash: seen.HashName, Key: fingerprint(f.config.Seed),
	}
	if n := len(st.PerLayer); n > 0 {
		facts.Hashes = st.PerLayer[n-1].K
	}
	if !f.written.IsZero() {
		written := f.written.UTC().Truncate(time.Second)
		facts.Written = &written
	}
	return facts
}

// write tells it to a person.
func (f *filterFacts) write(out io.Writer) (err error) {
	line := func(name, format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(out, "%-10s %s\n", name, fmt.Sprintf(format, args...))
		}
	}
	line("kind", "%s", kindName(f.Kind))
	line("items", "%s, made for %s", count(f.Items), count(f.Capacity))
	if f.Layers > 1 {
		line("layers", "%d", f.Layers)
	}
	if f.WindowS > 0 {
		line("window", "%s", span(f.WindowS*float64(time.Second)))
	}
	full := ""
	if f.Items < f.Capacity {
		full = " once full"
	}
	line("memory", "%s, %.1f bits an item%s", size(uint64(f.Bytes)), f.BitsPerKey, full)
	if f.FileBytes > 0 {
		line("file", "%s, written %s", size(uint64(f.FileBytes)), f.Written.Format(time.RFC3339))
	}
	line("fill", "%.1f%%", f.Fill*100)
	switch {
	case f.Kind == string(seen.KindExact):
		line("error", "%s; a line that is not in it costs a read with a chance of %s", errorRate(f.FP), config.Rate(f.TargetFP))
	case f.Capped:
		line("error", "%s now, above its %s: it holds more than it was made for", errorRate(f.FP), config.Rate(f.TargetFP))
	default:
		line("error", "%s now, at most %s", errorRate(f.FP), config.Rate(f.TargetFP))
	}
	if f.Hashes > 0 {
		line("hashes", "%d", f.Hashes)
	}
	line("hash", "%s, key %s", f.Hash, f.Key)
	return err
}
