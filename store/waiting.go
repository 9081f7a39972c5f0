package store

import (
	"context"
	"errors"
	"slices"
)

// ReadRows calls fn for the rows of the last checkpoint of a crawl that does not run, as Store.Rows does. It changes nothing.
// It fails with ErrNotCrawl, a *VersionError, a *DamageError, or a *LockedError while the crawl runs.
func ReadRows(dir, prefix string, fn func(key string, value []byte) error) (err error) {
	d := onDisk(dir)
	if _, err := d.existing(); err != nil {
		return err
	}
	held, err := d.claimUnlessReadOnly()
	if err != nil {
		return err
	}
	if held != nil {
		defer func() { err = errors.Join(err, held.release()) }()
	}
	state := newState(d)
	state.readOnly = true
	if _, err := state.open(); err != nil {
		return err
	}
	return errors.Join(state.each(prefix, fn), state.close())
}

// Waiting counts the URLs that are pending of some hosts, by HostKey. keyOf is that of a URL's host.
//
// What the queue's runs hold of a host lies together: each host costs a look into each of them, and what it holds. What no
// run holds yet is looked for in the logs.
func (r *Reader) Waiting(ctx context.Context, hosts []string, keyOf func(url string) uint64) (map[uint64]uint64, error) {
	v, err := r.open()
	if err != nil {
		return nil, err
	}
	w := waiting{views: v, counts: make(map[uint64]uint64, len(hosts)), counted: &Bits{}}
	for _, host := range hosts {
		w.counts[HostKey(host)] = 0
	}
	asStored := &Store{dir: r.dir, Admissions: v.admissions, Done: v.done, runs: v.runs}
	if w.done, err = asStored.DoneBits(); err != nil {
		return nil, err
	}
	if err := w.inRuns(ctx); err != nil {
		return nil, err
	}
	return w.counts, w.inLogs(ctx, r.at.Queue, keyOf)
}

// waiting counts pending numbers, each once: of one that was added again the queue may hold several entries.
type waiting struct {
	*views
	counts        map[uint64]uint64
	done, counted *Bits
}

func (w *waiting) take(key, seq uint64) {
	if n, wanted := w.counts[key]; wanted && !w.done.Test(seq) && !w.counted.Test(seq) {
		w.counted.Set(seq)
		w.counts[key] = n + 1
	}
}

func (w *waiting) inRuns(ctx context.Context) error {
	keys := make([]uint64, 0, len(w.counts))
	for key := range w.counts {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	runs := w.runs.newest(QueueRun)
	defer w.runs.release(runs)
	for _, r := range runs {
		if err := w.inRun(ctx, r, keys); err != nil {
			return err
		}
	}
	return nil
}

// inRun goes through the entries of the hosts with the sorted keys.
func (w *waiting) inRun(ctx context.Context, r *run, keys []uint64) error {
	c := r.Seek(nil)
	for n, wanted := range keys {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		c.Seek(appendHostKey(nil, wanted))
		for c.Next() {
			key, at, err := parseQueueKey(c.Key())
			if err != nil {
				return r.harm(-1, err)
			}
			if key != wanted {
				break
			}
			w.take(key, at.seq)
		}
		if c.Err() != nil {
			return r.damage(c.Err())
		}
	}
	return nil
}

// inLogs goes through what the queue's runs do not cover.
func (w *waiting) inLogs(ctx context.Context, covered Coverage, keyOf func(url string) uint64) error {
	err := w.admissions.Each(covered.Admissions+1, func(seq uint64, a Admission) error {
		w.take(keyOf(a.URL), seq)
		if seq%checkEvery == 0 {
			return ctx.Err()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.views.done.Each(covered.Done, func(e DoneEntry) error {
		if e.Event != EventAgain || w.done.Test(e.Seq) || w.counted.Test(e.Seq) {
			return nil
		}
		a, err := w.admissions.Get(e.Seq)
		if err == nil {
			w.take(keyOf(a.URL), e.Seq)
		}
		return err
	})
}
