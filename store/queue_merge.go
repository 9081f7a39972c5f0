package store

import (
	"context"
	"math/bits"

	"crawl/sortedrun"
)

// spillJob returns the writing of a memtable, if one is due.
func (q *Queue) spillJob() job {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.sealed != nil:
		return q.spillSealed
	case q.lags():
		return q.Spill
	}
	return nil
}

// mergeJob returns a merge of runs, if one is due and the disk has room for it.
func (q *Queue) mergeJob() job {
	infos := q.runs.infos(QueueRun)
	if from, to := q.dueTier(infos); to > from {
		infos = infos[from:to]
	} else if !q.bloated(infos) {
		return nil
	}
	if !q.fits(infos) {
		return nil
	}
	return func(ctx context.Context) error { return q.merge(ctx, infos) }
}

func (q *Queue) spillSealed(ctx context.Context) error {
	q.spilling.Lock()
	defer q.spilling.Unlock()
	return q.writeSealed(ctx, spillOptions)
}

// tier is the size class of a run: a class has fan-in times as many entries as the one before. A run of a full memtable is
// of class 0, whether some of its entries fell together or not; one that was spilled early is below.
func (q *Queue) tier(entries uint64) int {
	width, full := bits.Len(uint(q.cfg.fanIn-1)), uint64(q.cfg.entries)
	if 2*entries < full {
		return -1 - (bits.Len64(full/max(2*entries, 1))-1)/width
	}
	return (bits.Len64(2*entries/full) - 1) / width
}

// dueTier returns which of the runs, the oldest first, are to be merged because so many are of one tier, with none but
// smaller ones between them; these go along, as do smaller ones just before. Small runs between large ones would put that off
// for ever: with four times as many runs as a merge takes, more than four tiers ask for, those are merged that cost the least.
func (q *Queue) dueTier(infos []RunInfo) (from, to int) {
	tiers := make([]int, len(infos))
	for i, info := range infos {
		tiers[i] = q.tier(info.Entries)
	}
	for i, tier := range tiers {
		if to := lastOf(tiers[i:], q.cfg.fanIn); to > 0 {
			from = i
			for from > 0 && tiers[from-1] < tier {
				from--
			}
			return from, i + to
		}
	}
	if len(infos) <= maxRuns*q.cfg.fanIn {
		return 0, 0
	}
	least := ^uint64(0)
	for i := range len(infos) - q.cfg.fanIn + 1 {
		if n := entriesOf(infos[i : i+q.cfg.fanIn]); n < least {
			from, least = i, n
		}
	}
	return from, from + q.cfg.fanIn
}

// lastOf returns the end of the stretch in which the first tier comes so many times and no greater one; 0: there is none.
func lastOf(tiers []int, times int) (end int) {
	for i, tier := range tiers {
		if tier > tiers[0] {
			return 0
		}
		if tier == tiers[0] {
			times--
		}
		if times == 0 {
			return i + 1
		}
	}
	return 0
}

const maxRuns = 4 // times the fan-in

func entriesOf(infos []RunInfo) (n uint64) {
	for _, info := range infos {
		n += info.Entries
	}
	return n
}

// bloated reports whether so many of all entries must be of numbers that are done that merging all runs is worth it: two
// thirds where sweeps pass over them again and again, and seven eighths for the sake of the disk. One sweep alone reads them
// no sooner than a merge would.
func (q *Queue) bloated(infos []RunInfo) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	times := uint64(8)
	if q.sweeps > 0 {
		times = 3
	}
	entries, want := entriesOf(infos), times*q.pending+2*uint64(q.cfg.entries)
	return entries > want && q.covered.Done-min(q.compared, q.covered.Done) >= (entries-q.pending)/2
}

// merge makes one run of runs that are next to each other in age, without the entries of numbers that are done.
//
// A number is done for an entry of a run if it was done after an event that the run's span holds: one that became
// pending again later has another entry, in a later run.
func (q *Queue) merge(ctx context.Context, infos []RunInfo) error {
	return q.mergeWith(ctx, infos, mergeOptions)
}

func (q *Queue) mergeWith(ctx context.Context, infos []RunInfo, o sortedrun.Options) error {
	all := q.runs.newest(QueueRun)
	defer q.runs.release(all)
	in := chosen(all, infos)
	if len(in) < len(infos) {
		return nil // one was found damaged meanwhile: another merge will be due
	}
	info := RunInfo{Kind: QueueRun, Admissions: infos[0].Admissions, Done: infos[0].Done}
	for _, i := range infos[1:] {
		info.Admissions = info.Admissions.join(i.Admissions)
		info.Done = info.Done.join(i.Done)
	}
	events := q.committedEvents()
	done, err := q.done(ctx, max(info.Done.Upto, events))
	if err != nil {
		return err
	}
	out, err := q.runs.build(info, o, func(w *sortedrun.Writer) error {
		return mergeInto(ctx, w, in, done, q.soon)
	})
	if err != nil {
		return err
	}
	if out.Entries == 0 {
		if err := q.runs.discard(out); err != nil {
			return err
		}
		out = nil
	}
	q.install(out, in)
	if len(in) == len(all) {
		q.mu.Lock()
		q.compared, q.sweeps = events, 0
		q.mu.Unlock()
	}
	return nil
}

func (q *Queue) committedEvents() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.covered.Done
}

// mergeOptions: what is merged stays, and is most of what there is.
var mergeOptions = sortedrun.Options{BlockBytes: 64 << 10, Compress: true}

// chosen returns those of all runs that infos names, in the order of all.
func chosen(all []*run, infos []RunInfo) []*run {
	var in []*run
	for _, r := range all {
		for _, info := range infos {
			if r.Number == info.Number {
				in = append(in, r)
			}
		}
	}
	return in
}

func (s Span) join(o Span) Span { return Span{min(s.After, o.After), max(s.Upto, o.Upto)} }

// mergeInto writes what is not done of runs, the newest first.
func mergeInto(ctx context.Context, w *sortedrun.Writer, in []*run, done doneBits, soon func(seq uint64)) error {
	walk := newQueueWalk(in)
	walk.tell(soon)
	judged := make([]bool, len(in)) // whether the bits are as late as the run's span
	for i, r := range in {
		judged[i] = done.test != nil && done.upto >= r.RunInfo.Done.Upto
	}
	for n := 0; walk.Next(); n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		_, at, err := parseQueueKey(walk.Key())
		if err != nil {
			return walk.damage(err)
		}
		if judged[walk.Source()] && done.test(at.seq) {
			continue
		}
		if err := w.AddNoted(walk.Key(), walk.Note(), walk.Value()); err != nil {
			return err
		}
	}
	return walk.err()
}

// install puts a merged run into the place of its inputs. Positions in them become one in it.
func (q *Queue) install(out *run, in []*run) {
	q.reader.reading.Lock() // nobody's positions are on the way
	defer q.reader.reading.Unlock()
	numbers := make([]uint64, len(in))
	for i, r := range in {
		numbers[i] = r.Number
	}
	merged := uint64(0) // no run has it
	if out != nil {
		merged = out.Number
	}
	q.runs.replace(out, in)
	q.reader.positions.replaced(merged, numbers)
}

// queueWalk is several runs as one.
type queueWalk struct {
	*sortedrun.Merged
	runs    []*run // newest first
	cursors []*sortedrun.Cursor
}

// newQueueWalk begins before the first entry.
func newQueueWalk(runs []*run) queueWalk {
	cursors := make([]*sortedrun.Cursor, len(runs))
	for i, r := range runs {
		cursors[i] = r.Seek(nil)
	}
	return walkOf(runs, cursors)
}

// walkOf begins where the cursors stand.
func walkOf(runs []*run, cursors []*sortedrun.Cursor) queueWalk {
	return queueWalk{runs: runs, cursors: cursors, Merged: sortedrun.Merge(cursors...)}
}

// tell has soon told of each number as it is read; nil: nobody wants to know.
func (w queueWalk) tell(soon func(seq uint64)) {
	if soon == nil {
		return
	}
	w.Ahead(func(key []byte) {
		if _, at, err := parseQueueKey(key); err == nil { // who takes the entry finds what is wrong with it
			soon(at.seq)
		}
	})
}

// err names the file whose reading failed.
func (w queueWalk) err() error {
	if w.Err() == nil {
		return nil
	}
	for i, c := range w.cursors {
		if c.Err() != nil {
			return w.runs[i].damage(c.Err())
		}
	}
	return w.Err()
}

// damage is that of the present entry, which the run's checksums say is as it was written.
func (w queueWalk) damage(err error) error { return w.runs[w.Source()].harm(-1, err) }
