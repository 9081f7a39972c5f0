package store

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"crawl/sortedrun"
)

// pairView is a view of one log in runs of pairs: from a hash to the number of its admission, or from a number to the
// position of its last event. A run is made from a stretch of full blocks; runs of one size that follow each other are
// merged.
type pairView struct {
	kind  RunKind
	log   *blockLog
	scan  func(ctx context.Context, span Span, fn func(pair)) error // of a stretch, in the order of the log
	older bool                                                      // of equal keys the older one counts
}

// hashView: a hash that was admitted twice has the number of its first admission.
func (s *Store) hashView() pairView {
	return pairView{kind: HashRun, log: s.Admissions.blocks, scan: s.scanHashes, older: true}
}

// doneView: what happened to a number last is what counts.
func (s *Store) doneView() pairView {
	return pairView{kind: DoneRun, log: s.Done.blocks, scan: s.scanDone}
}

// info is what is known of a run before it is made.
func (v pairView) info(span Span) RunInfo {
	if v.kind == HashRun {
		return RunInfo{Kind: v.kind, Admissions: span}
	}
	return RunInfo{Kind: v.kind, Done: span}
}

func (s *Store) scanHashes(ctx context.Context, span Span, fn func(pair)) (err error) {
	scan := s.Admissions.blocks.scan()
	defer func() { err = errors.Join(err, scan.closeReading()) }()
	for seq := span.After + 1; seq <= span.Upto; {
		raw, err := scan.readRaw(int(seq / BlockEntries))
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		for ; len(raw) > 0; raw = raw[8:] {
			fn(pair{binary.LittleEndian.Uint64(raw), seq})
			seq++
		}
	}
	return nil
}

func (s *Store) scanDone(ctx context.Context, span Span, fn func(pair)) (err error) {
	scan := s.Done.scan()
	defer func() { err = errors.Join(err, scan.closeReading()) }()
	for position := span.After + 1; position <= span.Upto; {
		marks, err := scan.block(int(position / BlockEntries))
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		for _, m := range marks {
			fn(pair{m.seq, position})
			position++
		}
	}
	return nil
}

// inOrder brings pairs that were taken in the order of the log into that of precedence: of equal keys the first counts.
func (v pairView) inOrder(pairs []pair) []pair {
	if !v.older {
		slices.Reverse(pairs)
	}
	return pairs
}

// buildJob returns the making of the next run of a view, nil when none is due.
func (s *Store) buildJob(v pairView) job {
	span, due := s.runs.sizes.nextBuild(s.runs.infos(v.kind), v.log.fullEntries())
	if !due {
		return nil
	}
	return func(ctx context.Context) error {
		pairs := slices.Grow(s.pairs[0][:0], int(span.Len()))
		if err := v.scan(ctx, span, func(p pair) { pairs = append(pairs, p) }); err != nil {
			return err
		}
		made, err := s.runs.build(v.info(span), sortedrun.Options{}, func(w *sortedrun.Writer) error {
			spare := slices.Grow(s.pairs[1][:0], len(pairs))[:len(pairs)]
			s.pairs = [2][]pair{pairs, spare}
			return addPairs(w, v.inOrder(pairs), spare)
		})
		if err != nil {
			return err
		}
		s.runs.replace(made, nil)
		return nil
	}
}

// mergeJob returns the next merge of a view's runs, nil when none is due or the disk has no room for one.
func (s *Store) mergeJob(v pairView) job {
	infos := s.runs.infos(v.kind)
	first, due := s.runs.sizes.nextMerge(infos)
	if !due {
		return nil
	}
	infos = infos[first : first+s.runs.sizes.fanIn]
	if !s.fits(infos) {
		return nil
	}
	return func(ctx context.Context) error {
		runs := s.runs.newest(v.kind)
		defer s.runs.release(runs)
		in := chosen(runs, infos) // the newest first
		if len(in) < len(infos) {
			return nil // one was found damaged meanwhile, and what it held is remade first
		}
		span := Span{in[len(in)-1].place().After, in[0].place().Upto}
		order := slices.Clone(in)
		if v.older {
			slices.Reverse(order)
		}
		made, err := s.runs.build(v.info(span), sortedrun.Options{}, func(w *sortedrun.Writer) error {
			return s.mergePairs(ctx, w, order)
		})
		if err != nil {
			return err
		}
		s.runs.replace(made, in)
		return nil
	}
}
