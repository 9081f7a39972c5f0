package crawler

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"time"

	"crawl/canon"
	"crawl/fetch"
	"crawl/frontier"
	"crawl/internal/parse"
	"crawl/internal/scope"
	"crawl/seen"
	"crawl/store"
)

// Create makes dir a crawl that starts from the given seeds, and opens it. Seeds that cannot be used are reported to
// cfg.Log and passed over; ErrNoSeed when none is left. Until Create returns without error, dir holds no crawl.
func Create(dir string, cfg Config, seeds iter.Seq2[Seed, error]) (*Crawler, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	filter, err := seen.NewScalable(cfg.Seen)
	if err != nil {
		return nil, err
	}
	cfg.Seen = filter.Header().Config // with its seed: the crawl keeps it
	st, err := store.CreateWith(dir, cfg.Store, func() ([]store.Row, any, error) {
		n, err := seedsIn(dir).write(seeds, func(refused error) { cfg.Log.Warn("seed passed over", "err", refused) })
		if err == nil && n == 0 {
			err = ErrNoSeed
		}
		first := newBooks(time.Now())
		first.State = Stopped
		return nil, first, errors.Join(err, first.setConfig(cfg))
	})
	if err != nil {
		return nil, err
	}
	return open(st, func(c *Config) { *c = cfg }, false)
}

// Open goes on with the crawl in dir from its last checkpoint. It starts from the stored Config, which edit, if not nil,
// may change, except for what the state depends on.
func Open(dir string, edit func(*Config)) (*Crawler, error) {
	st, err := store.Open(dir, store.Config{})
	if err != nil {
		return nil, err
	}
	if edit == nil {
		edit = func(*Config) {}
	}
	return open(st, edit, true)
}

func open(st *store.Store, edit func(*Config), resumed bool) (*Crawler, error) {
	c, err := assemble(st, edit, resumed)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return c, nil
}

func assemble(st *store.Store, edit func(*Config), resumed bool) (*Crawler, error) {
	var kept books
	if err := json.Unmarshal(st.Last().Books, &kept); err != nil {
		return nil, &store.DamageError{File: "the books in the checkpoint", Offset: -1, Err: err}
	}
	cfg, err := kept.config()
	if err != nil {
		return nil, err
	}
	before := cfg.Seen
	edit(&cfg)
	cfg = cfg.withDefaults()
	if err := errors.Join(cfg.Validate(), sameState(before, cfg.Seen, kept.CanonRules)); err != nil {
		return nil, err
	}
	cfg.Frontier.IgnoreRobots, cfg.Frontier.Resumed = cfg.IgnoreRobots, resumed
	if err := kept.setConfig(cfg); err != nil {
		return nil, err
	}
	st.Configure(cfg.Store)
	c := &Crawler{
		cfg: cfg, log: cfg.Log, fetcher: cfg.Fetcher, seeds: seedsIn(st.Dir()), guessed: newGuessedHosts(), literal: make(map[string]struct{}),
		agent: cfg.Fetch.UserAgent, stop: make(chan struct{}), kick: make(chan struct{}, 1),
	}
	if err := c.build(); err != nil {
		return nil, err
	}
	c.committer = newCommitter(c, st, kept)
	if err := c.restore(); err != nil {
		return nil, err
	}
	if c.fetcher == nil {
		if c.fetcher, err = fetch.New(c.openSeeds(cfg.Fetch)); err != nil {
			return nil, err
		}
	}
	if cfg.MaxPages != nil {
		c.budget = newPageBudget(*cfg.MaxPages - min(*cfg.MaxPages, kept.Counters.Pages))
	}
	return c, nil
}

// sameState refuses settings under which the stored state would mean something else.
func sameState(before, now seen.Config, rules string) error {
	var errs []error
	if before.FalsePositiveRate != now.FalsePositiveRate || before.ExpectedItems != now.ExpectedItems || before.Seed != now.Seed {
		errs = append(errs, errors.New("fp, expect: the filter was made with other values; start a new crawl to change them"))
	}
	if have := (*canon.Rules)(nil).Version(); rules != have {
		errs = append(errs, fmt.Errorf("the crawl's URLs were named by rules %q, this program has %q: use the program that began it", rules, have))
	}
	return errors.Join(errs...)
}

// openSeeds lets seeds that are literal addresses, or localhost, be asked: the user named them.
func (c *Crawler) openSeeds(cfg fetch.Config) fetch.Config {
	cfg.AllowPrivate = slices.Concat(cfg.AllowPrivate, slices.Sorted(maps.Keys(c.literal)))
	return cfg
}

// build makes the parts that hold no state of the crawl.
func (c *Crawler) build() error {
	var err error
	if c.frontier, err = frontier.New(c.cfg.Frontier); err != nil {
		return err
	}
	c.scope, err = scope.New(scope.Config{Mode: scope.Mode(c.cfg.Scope.Mode), Include: c.cfg.Scope.Include, Exclude: c.cfg.Scope.Exclude})
	if err != nil {
		return err
	}
	if len(c.cfg.Extract) > 0 {
		rules := make([]parse.Rule, len(c.cfg.Extract))
		for i, e := range c.cfg.Extract {
			rules[i] = parse.Rule(e)
		}
		if c.extractor, err = parse.Compile(rules); err != nil {
			return err
		}
	}
	return nil
}

func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	return c
}

func newBooks(now time.Time) books {
	return books{
		CanonRules: (*canon.Rules)(nil).Version(), State: Stopped, StartedAt: now.UTC(), Counters: newCounters(),
	}
}

func (b *books) setConfig(cfg Config) (err error) {
	b.Config, err = json.Marshal(cfg)
	return err
}

func (b *books) config() (Config, error) {
	var cfg Config
	if err := json.Unmarshal(b.Config, &cfg); err != nil {
		return Config{}, &store.DamageError{File: "the settings in the checkpoint", Offset: -1, Err: err}
	}
	return cfg, nil
}
