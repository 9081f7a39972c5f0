// Command filters says what the filters of package seen cost, against the filter that Go programs mostly use and against
// one built the usual way, and whether chains keep their promise as they grow.
//
// Each figure stands beside its bar. All subjects of a comparison are in one process and take turns at batches of 4,096
// keys. Before each batch the caches are emptied, since a crawler does much between two links. The clock is the CPU time
// of the thread, and the figures to trust are ratios: medians over the rounds of the ratio within one round.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"crawl/seen"
)

// figures is all that was measured.
type figures struct {
	Items  uint64   `json:"items"`
	Costs  []figure `json:"costs,omitempty"`
	Chains []growth `json:"chains,omitempty"`
	Load   *load    `json:"load,omitempty"`
	Dedups []dedup  `json:"dedups,omitempty"`
}

type options struct {
	items, grow, load, dedup keysFlag
	rounds                   int
	coldMiB                  int
	dir                      string
	crawl                    string
	json                     bool
}

func main() {
	o := options{items: 10_000_000}
	flag.Var(&o.items, "items", "keys that the compared filters are made for; 0: no comparison")
	flag.Var(&o.grow, "grow", "grow chains from 10,000 and from 1M keys to so many; 0: none")
	flag.Var(&o.load, "load", "save a chain of so many keys, and read it from a file that is in no cache; 0: none")
	flag.Var(&o.dedup, "dedup", "have awk and crawl print each of so many lines once; 0: no")
	flag.StringVar(&o.crawl, "crawl", "crawl", "the crawl that --dedup runs")
	flag.IntVar(&o.rounds, "rounds", 100, "batches of each sort that a filter is given")
	flag.IntVar(&o.coldMiB, "cold", 128, "MiB that are read before each batch: several times the last cache")
	flag.StringVar(&o.dir, "dir", "", "where --load and --dedup make their file, and remove it; empty: the temporary folder")
	flag.BoolVar(&o.json, "json", false, "print JSON")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "filters:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	if o.rounds < 1 || o.coldMiB < 1 || flag.NArg() > 0 {
		return errors.New("want --rounds and --cold of at least 1, and flags only")
	}
	all := figures{Items: uint64(o.items)}
	err := onThread(func(c clock) error { return all.measure(c, o) })
	if err != nil {
		return err
	}
	if o.json {
		enc := json.NewEncoder(os.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(all)
	}
	return all.print(os.Stdout)
}

func (a *figures) measure(c clock, o options) (err error) {
	if o.dedup > 0 {
		if a.Dedups, err = dedups(o.dir, o.crawl, uint64(o.dedup)); err != nil {
			return err
		}
	}
	if o.items > 0 {
		cold := newColdness(o.coldMiB << 20)
		for _, p := range []float64{0.01, 0.001} {
			if err := a.compare(c, o, p, cold); err != nil {
				return err
			}
		}
	}
	if o.grow > 0 {
		for _, p := range []plan{{0.01, 10_000, 20}, {0.01, 1_000_000, 16.5}, {0.001, 1_000_000, 22.5}} {
			err := grow(c, p, uint64(o.grow), func(g growth) { a.Chains = append(a.Chains, g) })
			if err != nil {
				return err
			}
		}
	}
	if o.load > 0 {
		var bar float64
		if o.load == 100_000_000 {
			bar = 3
		}
		l, err := loading(c, o.dir, uint64(o.load), bar)
		if err != nil {
			return err
		}
		a.Load = &l
	}
	return nil
}

// compare runs the races at one rate of error.
func (a *figures) compare(c clock, o options, p float64, cold *coldness) error {
	races, err := racesAt(uint64(o.items), p)
	if err != nil {
		return err
	}
	for _, r := range races {
		figures, err := r.run(c, uint64(o.items), o.rounds, cold)
		if err != nil {
			return err
		}
		a.Costs = append(a.Costs, figures...)
	}
	return nil
}

func racesAt(items uint64, p float64) ([]race, error) {
	var errs []error
	bloom := func() seen.Filter {
		f, err := seen.NewBloom(seen.Config{FalsePositiveRate: p, ExpectedItems: items, MaxBytes: 1 << 40, Seed: 1}, seen.Blocked)
		errs = append(errs, err)
		return f
	}
	chain := func(first uint64) seen.Filter {
		f, err := seen.NewScalable(seen.Config{FalsePositiveRate: p, ExpectedItems: first, MaxBytes: 1 << 40, Seed: 1})
		errs = append(errs, err)
		return f
	}
	const size = 32
	three := items * 3 / 20 // 1 + 2 + 4 of them hold items
	races := []race{
		{name: "TestAndAdd of a URL", rate: p, barSeen: 0.40, barNew: 0.50, subjects: []subject{
			peerURLs(items, p), ownURLs("Bloom", bloom()), ownURLs("Scalable, one layer", chain(items)),
			ownURLBatches("Scalable, 32 URLs at once", chain(items), size),
		}},
		{name: "TestAndAddBatch of 32 hashes", rate: p, barSeen: 0.20, barNew: 0.20, subjects: []subject{
			classicSingles(items, p), ownBatches("Bloom", bloom(), size), ownBatches("Scalable, one layer", chain(items), size),
		}},
		{name: "three layers in batches of 32", rate: p, barSeen: 0.5, barNew: 0.5, subjects: []subject{
			ownSingles("one layer, one by one", chain(items)), ownBatches("Scalable, three layers", chain(three), size),
		}},
	}
	return races, errors.Join(errs...)
}

// keysFlag is a number of keys, such as 500k or 10M.
type keysFlag uint64

func (k *keysFlag) String() string { return strconv.FormatUint(uint64(*k), 10) }

func (k *keysFlag) Set(text string) error {
	digits, factor := text, uint64(1)
	switch {
	case strings.HasSuffix(text, "k"):
		digits, factor = strings.TrimSuffix(text, "k"), 1000
	case strings.HasSuffix(text, "M"):
		digits, factor = strings.TrimSuffix(text, "M"), 1_000_000
	}
	n, err := strconv.ParseUint(digits, 10, 40)
	if err != nil {
		return fmt.Errorf("want a number such as 500k or 100M, got %q", text)
	}
	*k = keysFlag(n * factor)
	return nil
}
