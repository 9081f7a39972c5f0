package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"crawl/internal/config"
	"crawl/seen"
)

// builder is one `crawl filter build`.
type builder struct {
	*app
	filterFlags
	kind  string
	exact bool
	like  string
	path  string
	force bool
}

// built is what became of it.
type built struct {
	Kind       string  `json:"kind"`
	Lines      uint64  `json:"lines"`
	Items      uint64  `json:"items"`
	Duplicates uint64  `json:"duplicates"`
	Bytes      int64   `json:"bytes"` // of the file
	FP         float64 `json:"fp"`    // now
	Key        string  `json:"key"`   // its fingerprint

	over uint64 // items it was made for, where it has more
}

func (a *app) filterBuildCommand() *cobra.Command {
	b := &builder{app: a, filterFlags: filterFlags{fp: seen.DefaultFalsePositiveRate, memory: 4 << 30}, kind: string(seen.KindBloom)}
	cmd := &cobra.Command{
		Use:   "build -o FILE [--fp P] [--items N] [--kind K | --exact] < LINES",
		Short: "Make a filter's file of lines",
		Long: `Make a filter's file of the lines of standard input. The file appears when it is whole and on the disk; until then, and after
a failure, what was there stays. A process that is killed leaves a file or folder beside it whose name begins with a dot.

Without --items, and always with --exact, the lines are counted first: their hashes are sorted on the disk (beside the file:
8 bytes a line, twice that at times), in 64 MiB of memory, and the filter is made for just as many as are different. With
--items they go straight into a filter made for so many; more are taken, and it errs more then, which is said at the end (a
cuckoo filter refuses them).

  bloom     the fewest bits a line for its speed, 10 at 1% and 16 at 0.1%
  classic   a few bits fewer, slower
  counting  lines can be removed, by the library
  cuckoo    the same, in 17 bits at an error of 0.012%
  --exact   a bloom filter with the hashes of all lines behind it, on the disk: what the filter takes for a line of its own is
            looked up, so that nothing is there but what was put in. --fp only says how often that costs a read

Each filter draws a secret key, without which nobody can make lines that it takes for others. The key is in its file: who is
given the file has it. Two filters can be merged only if they have one key and one size: --like makes the further ones.`,
		Example: `  crawl filter build --fp 1% -o names.filter < names.txt
  crawl filter build --exact -o deny.filter < denylist.txt
  crawl filter build --like deny.filter -o today.filter < today.txt`,
		Args: fromInput,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := b.settle(cmd); err != nil {
				return err
			}
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			return b.run(ctx)
		},
	}
	fs := cmd.Flags()
	b.register(fs)
	fs.StringVarP(&b.path, "output", "o", "", "`file` to make")
	fs.StringVar(&b.kind, "kind", b.kind, "`kind` of filter: bloom, classic, counting or cuckoo")
	fs.BoolVar(&b.exact, "exact", false, "with all hashes behind the filter, so that it does not err")
	fs.StringVar(&b.like, "like", "", "`filter` whose kind, size, error and key to take, so that the two can be merged")
	fs.BoolVar(&b.force, "force", false, "replace a file that is there")
	return cmd
}

// settle checks what the flags say together.
func (b *builder) settle(cmd *cobra.Command) error {
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	if b.path == "" {
		return usagef("filter build: name the file to make with -o FILE")
	}
	switch b.kind {
	case string(seen.KindBloom), string(seen.KindClassic), string(seen.KindCounting), string(seen.KindCuckoo):
	default:
		return usagef("--kind: want bloom, classic, counting or cuckoo, got %q", b.kind)
	}
	if b.exact && given("items") {
		return usagef("--exact: the filter is made for just as many lines as are different: leave out --items")
	}
	if b.exact && given("kind") && b.kind != string(seen.KindBloom) {
		return usagef("--exact: the filter in front is bloom: leave out --kind %s", b.kind)
	}
	if b.like != "" {
		for _, name := range []string{"fp", "items", "kind", "exact"} {
			if given(name) {
				return usagef("--like: kind, size and error are those of %s: leave out --%s", b.like, name)
			}
		}
	}
	return nil
}

// settings returns the kind and the settings of the filter to be made.
func (b *builder) settings() (seen.Kind, seen.Config, error) {
	if b.like == "" {
		kind := seen.Kind(b.kind)
		if b.exact {
			kind = seen.KindTable
		}
		return kind, b.config(), nil
	}
	model, err := openFilter(b.like)
	if err != nil {
		return "", seen.Config{}, err
	}
	defer model.close() // it was only read
	c := model.config
	c.MaxBytes = max(c.MaxBytes, int64(b.memory))
	switch kind := model.kind(); kind {
	case seen.KindTable:
		c.ExpectedItems = 0
		return kind, c, nil
	case seen.KindBloom, seen.KindClassic, seen.KindCounting, seen.KindCuckoo:
		return kind, c, nil
	default:
		return "", c, usagef("--like: %s is of kind %s, which build does not make", b.like, kindWord(kind))
	}
}

func (b *builder) run(ctx context.Context) (err error) {
	kind, c, err := b.settings()
	if err != nil {
		return err
	}
	out, err := newFileAt(b.path, b.force)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.drop()) }()
	b.log.Debug("reading lines", "file", b.path)
	var result built
	if kind != seen.KindTable && c.ExpectedItems > 0 {
		result, err = b.straight(ctx, kind, c, out)
	} else {
		result, err = b.counted(ctx, kind, c, out)
	}
	b.stderr.setStatus("")
	if err != nil {
		if _, stopped := errors.AsType[*signalError](err); stopped {
			b.say("%s: %s is not made", err, b.path)
		}
		return err
	}
	return b.report(result)
}

// adder is a filter that is being made.
type adder interface {
	seen.Filter
	Config() seen.Config
}

// newAdder returns an empty filter.
func (b *builder) newAdder(kind seen.Kind, c seen.Config) (f adder, err error) {
	if err := fits(kind, c); err != nil {
		return nil, err
	}
	switch kind {
	case seen.KindCounting:
		f, err = seen.NewCounting(c)
	case seen.KindCuckoo:
		f, err = seen.NewCuckoo(c)
	case seen.KindClassic:
		f, err = seen.NewBloom(c, seen.Classic)
	default:
		f, err = seen.NewBloom(c, seen.Blocked)
	}
	return f, b.explain(err)
}

// fits refuses a filter that takes more memory than it may.
func fits(kind seen.Kind, c seen.Config) error {
	s, err := seen.SizeOf(kind, c)
	if err != nil || s.Bits/8 <= uint64(c.MaxBytes) {
		return nil // what else is wrong is found when it is made
	}
	return usagef("%s at an error of %s take %s of memory, and it may have %s: pass a larger --memory, or a larger --fp",
		plural(c.ExpectedItems, "line", "lines"), config.Rate(c.FalsePositiveRate), size(s.Bits/8), size(uint64(c.MaxBytes)))
}

// straight adds lines to a filter as they come.
func (b *builder) straight(ctx context.Context, kind seen.Kind, c seen.Config, out *newFile) (built, error) {
	f, err := b.newAdder(kind, c)
	if err != nil {
		return built{}, err
	}
	s := &sieve{hash: f.Hash, answer: f.TestAndAddBatch, shown: b.sieving("adding", "different")}
	if err := s.run(ctx, b.stdin); err != nil {
		return built{}, b.full(err, f)
	}
	if err := out.write(f); err != nil {
		return built{}, err
	}
	return fileOf(b.path, f, f.Len(), s.lines)
}

// counted sorts the lines' hashes first, and makes the filter for as many as are different.
func (b *builder) counted(ctx context.Context, kind seen.Kind, c seen.Config, out *newFile) (result built, err error) {
	hashes, err := seen.NewTableBuilder(out.partial, c)
	if err != nil {
		return built{}, b.explain(err)
	}
	defer func() { err = errors.Join(err, hashes.Close()) }()
	s := &sieve{
		hash:   hashes.Hash,
		answer: func(h []uint64, _ []bool) error { return hashes.Add(h...) },
		shown:  b.sieving("sorting", "hashed"),
	}
	if err := s.run(ctx, b.stdin); err != nil {
		return built{}, err
	}
	n, all, err := hashes.Distinct()
	if err := errors.Join(err, context.Cause(ctx)); err != nil {
		return built{}, err
	}
	c.ExpectedItems, c.Seed = max(1, n), hashes.Config().Seed
	if kind == seen.KindTable {
		return b.table(hashes, c, out, s.lines)
	}
	f, err := b.newAdder(kind, c)
	if err != nil {
		return built{}, err
	}
	if err := addAll(ctx, f, all); err != nil {
		return built{}, b.full(err, f)
	}
	if err := out.write(f); err != nil {
		return built{}, err
	}
	return fileOf(b.path, f, n, s.lines)
}

// addAll adds hashes that are all different: none of them is passed over because it seems to be there already.
func addAll(ctx context.Context, f adder, all iter.Seq2[uint64, error]) error {
	batch := make([]uint64, 0, 4096)
	for h, err := range all {
		if err != nil {
			return err
		}
		if batch = append(batch, h); len(batch) < cap(batch) {
			continue
		}
		if err := addHashes(f, batch); err != nil {
			return err
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		batch = batch[:0]
	}
	return addHashes(f, batch)
}

func addHashes(f adder, hashes []uint64) error {
	switch f := f.(type) {
	case *seen.Bloom:
		f.Add(hashes)
	case *seen.Counting:
		f.Add(hashes)
	case *seen.Cuckoo:
		_, err := f.Add(hashes)
		return err
	default:
		return f.TestAndAddBatch(hashes, make([]bool, len(hashes)))
	}
	return nil
}

// table makes the file of a table.
func (b *builder) table(hashes *seen.TableBuilder, c seen.Config, out *newFile, lines uint64) (built, error) {
	if err := fits(seen.KindBloom, c); err != nil {
		return built{}, err
	}
	if err := hashes.Finish(); err != nil {
		return built{}, err
	}
	if err := out.commit(); err != nil {
		return built{}, err
	}
	return tableResult(b.path, lines)
}

// tableResult says what is in the file of a table.
func tableResult(path string, lines uint64) (result built, err error) {
	t, err := seen.OpenTable(path)
	if err != nil {
		return built{}, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	return fileOf(path, t, t.Len(), lines)
}

// full says what to do about a filter that takes no more.
func (b *builder) full(err error, f adder) error {
	if !errors.Is(err, seen.ErrFull) {
		return err
	}
	return fmt.Errorf("%s: the %s filter is full with %s, made for %s: pass a larger --items, or leave it out and lines are counted first",
		b.path, f.Stats().Kind, plural(f.Len(), "line", "lines"), count(f.Config().ExpectedItems))
}

// fileOf says what is in the file of f, which holds items of so many lines.
func fileOf(path string, f described, items, lines uint64) (built, error) {
	info, err := os.Stat(path)
	if err != nil {
		return built{}, err
	}
	st := f.Stats()
	result := built{
		Kind: kindWord(st.Kind), Lines: lines, Items: items, Duplicates: lines - min(lines, items), Bytes: info.Size(), FP: st.Rate,
		Key: fingerprint(f.Config().Seed),
	}
	if st.Capped {
		result.over = st.Capacity
	}
	return result, nil
}

// described is a filter of any kind, and a table.
type described interface {
	Stats() seen.Stats
	Config() seen.Config
}

// report says what was made.
func (b *builder) report(r built) error {
	if b.json {
		return b.lines().Encode(r)
	}
	b.say("%s: %s, %s of %s, %s, error %s, key %s", b.path, kindName(r.Kind), plural(r.Items, "item", "items"),
		plural(r.Lines, "line", "lines"), size(uint64(r.Bytes)), errorRate(r.FP), r.Key)
	b.warnOver(b.path, r)
	return nil
}

// warnOver says that a filter holds more than it was made for.
func (a *app) warnOver(path string, r built) {
	if r.over > 0 {
		a.log.Warn("the filter holds more than it was made for, and errs more than it should: build it with more --items", "file", path,
			"items", r.Items, "made_for", r.over)
	}
}
