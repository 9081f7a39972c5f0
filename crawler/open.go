package crawler

import (
	"cmp"
	"context"
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
	"crawl/seen"
	"crawl/store"
)

// Create makes dir a crawl that starts from the given seeds, and opens it. Seeds that cannot be used are reported to
// cfg.Log and passed over; ErrNoSeed when none is left. What is wrong with cfg or the seeds leaves no crawl in dir.
func Create(dir string, cfg Config, seeds iter.Seq2[Seed, error]) (*Crawler, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	filter, err := seen.NewScalable(cfg.Seen)
	if err != nil {
		return nil, err
	}
	names, err := canon.NewRules(cfg.Canon...)
	if err != nil {
		return nil, err
	}
	cfg.Seen = filter.Header().Config // with its seed: the crawl keeps it
	st, err := store.Create(dir, cfg.Store, func() ([]store.Row, any, error) {
		lists := newDenylists(dir, cfg, names)
		if err := errors.Join(lists.load(context.Background(), nil), lists.close()); err != nil { // before there is a crawl
			return nil, nil, err
		}
		n, err := seedsIn(dir).write(seeds, func(refused error) { cfg.Log.Warn("seed passed over", "err", refused) })
		switch {
		case err != nil:
			return nil, nil, err
		case n == 0:
			return nil, nil, ErrNoSeed
		}
		first := newBooks(time.Now(), names)
		if first.Seeds.Sum, err = seedsIn(dir).sum(); err == nil {
			err = first.setConfig(cfg)
		}
		return nil, first, err
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
	t, err := settle(st, edit, resumed)
	if err != nil {
		return nil, err
	}
	st.Configure(t.cfg.Store)
	c := newCrawler(st.Dir(), &t)
	if err := c.openDeny(st.Dir(), &t); err != nil {
		return nil, err
	}
	c.live.Store(t.cfg.live())
	c.fetchers.resize(t.cfg.Concurrency)
	if err := c.build(st); err != nil {
		return nil, err
	}
	st.Queue.IsDone(c.frontier.IsDone, c.frontier.Expect)
	c.committer = newCommitter(c, st, t.kept)
	if c.committer.sights, err = openSights(st.Dir(), t.cfg, t.kept.Sights, t.cfg.Log); err != nil {
		return nil, err
	}
	for _, err := range st.Healed() {
		c.log.Warn("the end of a log was damaged, and was made again from what lies beyond the last checkpoint", "err", err)
	}
	c.sayDamage()
	if err := c.restore(); err != nil {
		return nil, err
	}
	if c.fetcher == nil {
		if c.fetcher, err = fetch.New(c.openSeeds(t.cfg.Fetch)); err != nil {
			return nil, err
		}
	}
	c.sayTerms(&t)
	return c, nil
}

// terms are what a crawl is opened under.
type terms struct {
	before, cfg Config // as stored, and in force from now on
	names       *canon.Rules
	kept        books // of the last checkpoint, with cfg in them
}

// settle finds what holds from now on, and refuses what the stored state does not allow.
func settle(st *store.Store, edit func(*Config), resumed bool) (t terms, err error) {
	if t.kept, err = readBooks(st.Last()); err != nil {
		return t, err
	}
	if t.before, err = t.kept.config(); err != nil {
		return t, err
	}
	t.cfg = t.before
	edit(&t.cfg)
	t.cfg = t.cfg.withDefaults()
	if t.names, err = canon.NewRules(t.cfg.Canon...); err != nil {
		return t, err
	}
	if err := errors.Join(t.cfg.Validate(), sameState(t.before.Seen, t.cfg, t.names, t.kept.CanonRules)); err != nil {
		return t, err
	}
	t.cfg.Frontier.Resumed = resumed
	if err := t.kept.setConfig(t.cfg); err != nil {
		return t, err
	}
	if t.cfg.RebuildSeen {
		err = forgetSeen(st, t.cfg.Seen, t.names, &t.kept)
	}
	return t, err
}

// newCrawler returns a crawl that has no state yet.
func newCrawler(dir string, t *terms) *Crawler {
	c := &Crawler{
		cfg: t.cfg, names: t.names, log: t.cfg.Log, fetcher: t.cfg.Fetcher, seeds: seedsIn(dir),
		product: fetch.Product(cmp.Or(t.cfg.Fetch.UserAgent, fetch.DefaultUserAgent)),
		guessed: newGuessedHosts(), alike: newAlike(t.cfg.MaxAlike, t.cfg.MaxNearAlike), growing: newGrowing(t.cfg.MaxGrowing),
		namesakes: newAlikeHosts(t.cfg.MaxAlikeHosts, t.cfg.Scope), literal: make(map[string]struct{}),
		formers: &formerRecords{dir: dir},
		budget:  newPageBudget(t.cfg.MaxPages, t.kept.Counters.Pages),
		stop:    make(chan struct{}), kick: make(chan struct{}, 1), shortage: make(chan struct{}, 1), retimed: make(chan struct{}, 1),
	}
	if t.cfg.Fetch.TrustMatters() {
		c.trusted = newSeedOrigins()
	}
	return c
}

// openDeny loads the denylists. Others than those of the last checkpoint are a change of the rules.
func (c *Crawler) openDeny(dir string, t *terms) error {
	if c.deny = newDenylists(dir, t.cfg, t.names); c.deny == nil {
		return nil
	}
	if err := c.deny.load(context.Background(), t.kept.Deny); err != nil {
		return err
	}
	c.deny.say()
	if c.deny.differ(t.kept.Deny) {
		t.kept.RulesAt = time.Now().UTC()
	}
	return nil
}

// sayTerms tells what is other than it was.
func (c *Crawler) sayTerms(t *terms) {
	if t.cfg.RebuildSeen {
		c.log.Info("the filter is made again from the log", "urls", c.committer.met.filter.Len(),
			"fp", t.cfg.Seen.FalsePositiveRate, "fp_before", t.before.Seen.FalsePositiveRate)
	}
	if t.kept.HostsLost {
		c.log.Warn("state.db was made again from the file checkpoint, without what hosts had failed: those that were given up for "+
			"it are asked again, and none is left alone for longer than its delay", "to_see", "crawl stats --hosts")
	}
	t.kept.Counters.sayRules(c.log, t.before, t.cfg)
}

// ErrFixed: settings that the stored state is built on are not those it was begun with.
var ErrFixed = errors.New("the crawl's state does not allow these settings")

// sameState refuses settings under which the stored state would mean something else.
func sameState(before seen.Config, cfg Config, names *canon.Rules, named string) error {
	now := cfg.Seen
	var errs []error
	switch remade := before.FalsePositiveRate != now.FalsePositiveRate || before.ExpectedItems != now.ExpectedItems; {
	case before.Seed != now.Seed:
		errs = append(errs, fmt.Errorf("%w: the seed of the filter's hash is part of the log", ErrFixed))
	case remade && !cfg.RebuildSeen:
		errs = append(errs, fmt.Errorf("%w: fp, expect: the filter was made with other values; `crawl resume --rebuild-seen` remakes it", ErrFixed))
	}
	if have := names.Version(); named != have && !cfg.RebuildSeen {
		errs = append(errs, fmt.Errorf("%w: its URLs were named by rules %q, and would be by %q now: leave same_page as it was, use the program that began it, or try `crawl resume --rebuild-seen`",
			ErrFixed, named, have))
	}
	return errors.Join(errs...)
}

// openSeeds lets seeds that are literal addresses, or localhost, be asked: the user named them. Credentials may go to seeds.
func (c *Crawler) openSeeds(cfg fetch.Config) fetch.Config {
	cfg.AllowPrivate = slices.Concat(cfg.AllowPrivate, slices.Sorted(maps.Keys(c.literal)))
	if cfg.Trusted == nil {
		cfg.Trusted = c.trusted.trusts
	}
	return cfg
}

// build makes the parts that hold no state of the crawl.
func (c *Crawler) build(st *store.Store) error {
	var err error
	cfg := c.cfg.Frontier
	cfg.Lookup = func(host string) (frontier.HostState, bool) { return c.hostState(st, host) }
	c.ledger = newLedger(cfg, cfg.Resumed)
	if c.frontier, err = frontier.New(cfg); err != nil {
		return err
	}
	c.lease = c.frontier.Lease
	if c.scope, err = c.cfg.Scope.compile(); err != nil {
		return err
	}
	c.extractor, err = compileExtract(c.cfg.Extract)
	return err
}

// hostState looks up the row of a host that comes into memory. One that cannot be read costs its waits, which the log says.
func (c *Crawler) hostState(st *store.Store, host string) (_ frontier.HostState, found bool) {
	var row hostRow
	value, err := st.Row(hostPrefix + host)
	if err == nil && value != nil {
		err = json.Unmarshal(value, &row)
	}
	if err != nil {
		c.log.Warn("the state of a host is lost", "host", host, "err", err)
		return frontier.HostState{}, false
	}
	c.givenUpAt.was(&row)
	return row.HostState, value != nil
}

func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	return c
}
