package crawler

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bits-and-blooms/bitset"

	"crawl/canon"
	"crawl/frontier"
	"crawl/seen"
	"crawl/store"
)

// restore remakes every view from the last checkpoint: what it keeps as rows, the filter, the scope, what is pending.
func (c *Crawler) restore() error {
	if err := c.restoreRows(); err != nil {
		return err
	}
	if err := c.restoreScope(); err != nil {
		return err
	}
	if err := c.restoreFilter(); err != nil {
		return err
	}
	c.hasher = c.committer.filter
	return c.restorePending()
}

func (c *Crawler) restoreRows() error {
	k := c.committer
	var hosts []frontier.HostState
	err := k.store.Rows("", func(key string, value []byte) error {
		switch prefix, name, _ := strings.Cut(key, "/"); prefix + "/" {
		case hostPrefix:
			var state frontier.HostState
			if err := json.Unmarshal(value, &state); err != nil {
				return rowDamage(key, err)
			}
			hosts = append(hosts, state)
		case joinedPrefix:
			c.scope.Join(name)
		case labelPrefix:
			k.labels.restore(key, string(value))
		case addedPrefix:
			u, guessed, err := Seed{URL: name}.parse()
			if err != nil {
				return rowDamage(key, err)
			}
			c.addToScope(u, guessed)
		case shadowPrefix:
			for ; len(value) >= 8; value = value[8:] {
				k.shadow.hashes[binary.LittleEndian.Uint64(value)] = struct{}{}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.frontier.Restore(hosts)
	return nil
}

func rowDamage(key string, err error) error {
	return &store.DamageError{File: "the checkpoint's row " + key, Offset: -1, Err: err}
}

// restoreScope reads all stored seeds: a link to the host of a late seed is in scope from the first page on.
func (c *Crawler) restoreScope() error {
	for seed, err := range c.seeds.from(0) {
		if err != nil {
			return err
		}
		c.addToScope(seed.url, seed.guessed)
		for _, place := range OpenedBy(seed.url) {
			c.literal[place] = struct{}{}
		}
	}
	return nil
}

func (c *Crawler) addToScope(seed canon.URL, guessed bool) {
	c.scope.AddSeed(seed)
	if guessed {
		c.guessed.add(seed.Host())
	}
}

// restoreFilter loads the saved filter and adds the hashes that the log has beyond it. One that cannot be read is remade
// from the log alone.
func (c *Crawler) restoreFilter() error {
	k := c.committer
	filter, err := c.loadFilter()
	if err != nil {
		c.log.Warn("the saved filter is remade from the log", "err", err)
		if err := k.store.Filter().Remove(); err != nil {
			return err
		}
		filter = nil // it may lack some of its bits, and would call new what was met
	}
	if filter == nil {
		if filter, err = seen.NewScalable(c.cfg.Seen); err != nil {
			return err
		}
	} else {
		k.saver.saved = filter.Header()
	}
	k.filter = filter
	return k.store.Admissions.EachHashes(filter.Len()+1, func(_ uint64, hashes []uint64) error {
		filter.Add(hashes)
		return nil
	})
}

// loadFilter returns nil when none was saved, or none that this crawl can have made.
func (c *Crawler) loadFilter() (*seen.Scalable, error) {
	var filter *seen.Scalable
	found, err := c.committer.store.Filter().Read(
		func(header []byte) (err error) {
			var h seen.Header
			if err := h.UnmarshalBinary(header); err != nil {
				return err
			}
			if h.Config.Seed != c.cfg.Seen.Seed || h.Len() > c.committer.store.Admissions.Len() {
				return errors.New("it belongs to another state of the crawl")
			}
			filter, err = seen.Restore(h, c.cfg.Seen.MaxBytes)
			return err
		},
		func(chunk store.FilterChunk) error {
			if chunk.Layer >= len(filter.Header().Layers) {
				return nil // of a pass that was not finished
			}
			return filter.SetChunk(chunk.Layer, chunk.Index, chunk.Data)
		})
	if err != nil || !found {
		return nil, err
	}
	return filter, filter.Complete()
}

// restorePending gives the frontier every admitted URL whose last event does not say done.
func (c *Crawler) restorePending() error {
	k := c.committer
	last := k.store.Admissions.Len()
	done := bitset.New(uint(last) + 1)
	again := make(map[uint64]store.DoneEntry) // the last event of those that are pending once more
	err := k.store.Done.Each(func(e store.DoneEntry) error {
		if e.Seq > last {
			return &store.DamageError{File: "the done log", Offset: -1, Err: fmt.Errorf("it names URL %d of %d", e.Seq, last)}
		}
		if e.Event == store.EventDone {
			done.Set(uint(e.Seq))
			delete(again, e.Seq)
			return nil
		}
		done.Clear(uint(e.Seq))
		again[e.Seq] = e
		return nil
	})
	if err != nil || uint64(done.Count()) == last {
		return err
	}
	referrers, err := c.referrers(done)
	if err != nil {
		return err
	}
	return c.addPending(done, again, referrers)
}

// referrers returns the URLs of the pages on which pending URLs were first met.
func (c *Crawler) referrers(done *bitset.BitSet) (map[uint64]string, error) {
	log := c.committer.store.Admissions
	wanted := bitset.New(done.Len())
	err := log.Each(1, func(seq uint64, a store.Admission) error {
		if !done.Test(uint(seq)) {
			wanted.Set(uint(a.From))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	wanted.Clear(0) // seeds have none
	referrers := make(map[uint64]string, wanted.Count())
	return referrers, log.Each(1, func(seq uint64, a store.Admission) error {
		if wanted.Test(uint(seq)) {
			referrers[seq] = strings.Clone(a.URL) // a block's URLs share one string
		}
		return nil
	})
}

func (c *Crawler) addPending(done *bitset.BitSet, again map[uint64]store.DoneEntry, referrers map[uint64]string) error {
	k := c.committer
	tasks := make([]frontier.Task, 0, store.BlockEntries)
	flush := func() {
		c.frontier.Add(tasks...)
		tasks = tasks[:0]
	}
	var redirected []frontier.Task
	err := k.store.Admissions.Each(1, func(seq uint64, a store.Admission) error {
		if done.Test(uint(seq)) {
			return nil
		}
		task, err := pendingTask(seq, a, again[seq])
		if err != nil {
			return err
		}
		task.Referrer = referrers[a.From]
		if task.Hop > 0 {
			redirected = append(redirected, task)
			return nil
		}
		if tasks = append(tasks, task); len(tasks) == cap(tasks) {
			flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	flush()
	for _, task := range redirected {
		if task.Via, err = redirectChain(k.store.Admissions, task); err != nil {
			return err
		}
		c.frontier.Add(task)
	}
	return nil
}

// pendingTask remakes the task of an admission. last is its last event; zero for one that had none.
func pendingTask(seq uint64, a store.Admission, last store.DoneEntry) (frontier.Task, error) {
	u, err := canon.Parse(strings.Clone(a.URL))
	if err != nil {
		return frontier.Task{}, &store.DamageError{File: "the admission log", Offset: -1, Err: err}
	}
	task := frontier.Task{
		URL: u, Seq: seq, From: a.From, Depth: int(a.Depth), Hop: int(a.Hop), Class: frontier.Class(a.Class), Seed: a.Seed,
		Attempt: int(last.Attempt), Visit: max(int(last.Visit), 1),
	}
	if task.Visit > 1 { // the user asked for it again
		task.Class = frontier.Added
	}
	if now := time.Now(); last.Due.After(now) {
		// A clock that was set back meanwhile must not keep it for longer than it was to wait.
		task.NotBefore = now.Add(min(last.Due.Sub(now), last.Due.Sub(last.At)))
	}
	return task, nil
}

// redirectChain follows a redirect's target back to the page that was linked. It is nil for a task that is none.
func redirectChain(log *store.AdmissionLog, task frontier.Task) (*frontier.Redirect, error) {
	var hashes []uint64 // the last redirect first
	for from, hop := task.From, task.Hop; from != 0 && hop > 0; {
		a, err := log.Get(from)
		if err != nil {
			return nil, err
		}
		hashes = append(hashes, a.Hash)
		from, hop = a.From, int(a.Hop)
	}
	var via *frontier.Redirect
	for _, hash := range slices.Backward(hashes) {
		via = &frontier.Redirect{Hash: hash, Before: via}
	}
	return via, nil
}
