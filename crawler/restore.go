package crawler

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

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
	c.hasher = c.committer.met.filter
	if err := c.restoreMet(); err != nil {
		return err
	}
	if err := c.restoreRefused(); err != nil {
		return err
	}
	return c.restorePending()
}

// restoreRows takes back the rows that are few. The rows of hosts are looked up when a host comes into memory.
func (c *Crawler) restoreRows() error {
	k := c.committer
	for prefix, take := range map[string]func(name string, value []byte) error{
		joinedPrefix:  func(name string, _ []byte) error { c.scope.Join(name); return nil },
		ledPrefix:     func(host string, _ []byte) error { c.namesakes.exempt(host); return nil },
		labelPrefix:   func(name string, value []byte) error { k.labels.restore(labelPrefix+name, string(value)); return nil },
		addedPrefix:   c.restoreAdded,
		alikePrefix:   c.restoreAlike,
		shadowPrefix:  func(_ string, value []byte) error { k.shadow.restore(value); return nil },
		ledgerPrefix:  c.ledger.restore,
		ledgerRestKey: func(_ string, value []byte) error { return c.ledger.restoreRest(value) },
	} {
		err := k.store.Rows(prefix, func(key string, value []byte) error {
			return take(strings.TrimPrefix(key, prefix), value)
		})
		if err != nil {
			return err
		}
	}
	var marks []store.Row
	err := k.store.Rows(store.MarkPrefix, func(key string, value []byte) error {
		marks = append(marks, store.Row{Key: key, Value: value})
		return nil
	})
	if err != nil {
		return err
	}
	if err := k.store.Queue.RestoreMarks(marks); err != nil {
		return rowDamage(store.MarkPrefix, err)
	}
	return nil
}

func (c *Crawler) restoreAlike(name string, value []byte) error {
	p, err := readAlikeRow(name, value)
	if err != nil {
		return rowDamage(alikePrefix+name, err)
	}
	switch p.Rule {
	case trapGrowing:
		host, says, err := readGrowingPattern(name)
		c.growing.shuts(host, says)
		return err
	case trapHosts:
		c.namesakes.restore(strings.TrimPrefix(name, hostsPattern("")), p.Spared)
	default:
		c.alike.close(name, p.Rule)
	}
	return nil
}

func (c *Crawler) restoreAdded(name string, _ []byte) error {
	u, guessed, err := Seed{URL: name}.parse()
	if err != nil {
		return rowDamage(addedPrefix+name, err)
	}
	c.addToScope(u, guessed)
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
	return c.seeds.check(c.committer.seedMark())
}

func (c *Crawler) addToScope(seed canon.URL, guessed bool) {
	c.scope.AddSeed(seed)
	c.trusted.add(seed)
	c.namesakes.exempt(seed.Host())
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
	k.met.filter = filter
	return k.store.Admissions.EachHashes(filter.Len()+1, func(_ uint64, hashes []uint64) error {
		filter.Add(hashes)
		return nil
	})
}

// restoreMet has the disk stand behind the filter in exact mode. In another mode what an exact one left there is removed.
func (c *Crawler) restoreMet() error {
	k := c.committer
	if !c.cfg.Exact {
		return os.RemoveAll(k.met.dir)
	}
	k.met.gather = c.cfg.Store.QueueEntries
	err := k.met.open(k.store.Admissions)
	if isUseless(err) {
		return k.remakeMet(err)
	}
	return err
}

// loadFilter returns nil when none was saved.
func (c *Crawler) loadFilter() (*seen.Scalable, error) {
	st := c.committer.store
	return readFilter(st.Filter(), c.cfg.Seen, st.Admissions.Len())
}

// readFilter reads a saved filter of a crawl that has admitted so many URLs. It returns nil when none was saved, and an
// error for one that this crawl cannot have saved.
func readFilter(file *store.FilterFile, cfg seen.Config, admitted uint64) (*seen.Scalable, error) {
	var filter *seen.Scalable
	found, err := file.Read(
		func(header []byte) (err error) {
			var h seen.Header
			if err := h.UnmarshalBinary(header); err != nil {
				return err
			}
			if h.Config.Seed != cfg.Seed || h.Len() > admitted {
				return errors.New("it belongs to another state of the crawl")
			}
			filter, err = seen.Restore(h, cfg.MaxBytes)
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

// unreadable is the damage of an admission whose URL is none.
func unreadable(seq uint64, err error) error {
	return &store.DamageError{File: "the admission log", Offset: -1, Err: fmt.Errorf("URL %d: %w", seq, err)}
}

// pendingTask remakes the task of an admission. last is its last event; zero for one that had none.
func pendingTask(seq uint64, a store.Admission, last store.DoneEntry) (frontier.Task, error) {
	u, err := canon.Keep(a.URL)
	if err != nil {
		return frontier.Task{}, unreadable(seq, err)
	}
	task := frontier.Task{
		URL: u, Seq: seq, From: a.From, Depth: int(a.Depth), Hop: int(a.Hop), Class: frontier.Class(a.Class), Seed: a.Seed,
		Attempt: int(last.Attempt), Visit: max(int(last.Visit), 1),
	}
	if named := last.Named || last.Attempt == 0 && last.Outcome == 0; named && task.Visit > 1 { // again, by the user
		task.Class = min(task.Class, frontier.Added) // a seed's earlier entry in the queue would come before one of another class
	}
	if task.Visit > 1 {
		task.Former = last.Record
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
