package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// VerifyRuns reads all runs and compares those that are made from one log alone with that log: what it returns are
// *DamageErrors but for an error of the disk or of ctx, which ends it. Runs that were left out when the crawl was opened
// are part of it, whether they were remade since or not. It belongs to the committer, and may take minutes.
func (s *Store) VerifyRuns(ctx context.Context) []error {
	v := &runVerifier{store: s, found: slices.Clone(s.runs.harm)}
	for _, kind := range []RunKind{QueueRun, HashRun, DoneRun, BitsRun} {
		runs := s.runs.newest(kind)
		slices.Reverse(runs)
		err := v.kind(ctx, kind, runs)
		s.runs.release(runs)
		if err != nil {
			return append(v.found, err)
		}
	}
	return v.found
}

// runVerifier collects damage.
type runVerifier struct {
	store *Store
	found []error
}

// note keeps damage, and returns any other error.
func (v *runVerifier) note(err error) error {
	if _, damaged := errors.AsType[*DamageError](err); damaged {
		v.found = append(v.found, err)
		return nil
	}
	return err
}

// kind verifies the runs of one kind, the oldest first.
func (v *runVerifier) kind(ctx context.Context, kind RunKind, runs []*run) error {
	switch kind {
	case HashRun:
		return v.pairs(ctx, v.store.hashView(), runs)
	case DoneRun:
		return v.pairs(ctx, v.store.doneView(), runs)
	case BitsRun:
		return v.each(runs, func(r *run) error { return v.store.verifyBits(ctx, r) })
	}
	return v.each(runs, func(r *run) error { return r.damage(r.Verify(ctx)) })
}

func (v *runVerifier) each(runs []*run, verify func(*run) error) error {
	for _, r := range runs {
		if err := v.note(verify(r)); err != nil {
			return err
		}
	}
	return nil
}

// pairs verifies the runs of a view of one log: also that each part of the log is in one run, but for its end.
func (v *runVerifier) pairs(ctx context.Context, view pairView, runs []*run) error {
	at, full := uint64(0), view.log.fullEntries()
	return v.each(runs, func(r *run) error {
		span := r.place()
		if span.After != at || span.Upto <= span.After || span.Upto > full || span.Upto%BlockEntries != 0 {
			return r.harm(-1, fmt.Errorf("it is of entries %d to %d of a log of %d, the run before it ends with %d",
				span.After+1, span.Upto, full, at))
		}
		at = span.Upto
		if err := r.Verify(ctx); err != nil {
			return r.damage(err)
		}
		return view.verify(ctx, r, v.store.runs.sizes.verifyPairs)
	})
}

// verify compares a run with its log, so many pairs at once: the log is read once for each stretch of keys.
func (v pairView) verify(ctx context.Context, r *run, atOnce int) error {
	cursor, least := newPairCursor(r), uint64(0)
	for {
		have, err := cursor.take(atOnce)
		if err != nil {
			return err
		}
		last := len(have) < atOnce
		most := ^uint64(0)
		if !last {
			most = have[len(have)-1].key
		}
		want, err := v.between(ctx, r.place(), least, most)
		if err != nil {
			return err
		}
		if !slices.Equal(have, want) {
			return r.harm(-1, errors.New("it says other things than the log that it was made from"))
		}
		if last || most == ^uint64(0) {
			return nil
		}
		least = most + 1
	}
}

// take reads the next n pairs; fewer only at the run's end.
func (c *pairCursor) take(n int) ([]pair, error) {
	var pairs []pair
	for len(pairs) < n {
		if len(c.page) == 0 {
			if more, err := c.fill(); !more || err != nil {
				return pairs, err
			}
		}
		part := c.page[:min(len(c.page), n-len(pairs))]
		pairs, c.page = append(pairs, part...), c.page[len(part):]
	}
	return pairs, nil
}

// between returns what a run of a stretch of the log holds of the keys from least to most.
func (v pairView) between(ctx context.Context, span Span, least, most uint64) ([]pair, error) {
	var pairs []pair
	err := v.scan(ctx, span, func(p pair) {
		if p.key >= least && p.key <= most {
			pairs = append(pairs, p)
		}
	})
	pairs = sortPairs(v.inOrder(pairs), make([]pair, len(pairs)))
	return slices.CompactFunc(pairs, func(a, b pair) bool { return a.key == b.key }), err
}

// verifyBits compares the saved bitmap with the done log.
func (s *Store) verifyBits(ctx context.Context, r *run) error {
	b, err := readBits(r)
	if err != nil {
		return err
	}
	upto, full := r.RunInfo.Done.Upto, s.Done.blocks.fullEntries()
	if upto > full || upto%BlockEntries != 0 {
		return r.harm(-1, fmt.Errorf("it is of %d events of %d", upto, full))
	}
	scan := s.Done.scan()
	want := &Bits{}
	err = want.replayBlocks(ctx, scan, Span{0, upto}, s.Admissions.Len())
	if err := errors.Join(err, scan.closeReading()); err != nil {
		return err
	}
	if !b.equal(want) {
		return r.harm(-1, errors.New("it says other things than the done log"))
	}
	return nil
}
