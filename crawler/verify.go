package crawler

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"crawl/canon"
	"crawl/store"
)

// VerifyOptions says how a crawl is verified. The zero value only looks.
type VerifyOptions struct {
	Repair   bool // make again what can be made again, and verify anew
	Store    store.Config
	Progress func(part string, done, total uint64) // is told now and then how far it is; nil: nobody asks
}

// Verify reads all of the crawl in dir, which nobody runs, and compares each part with the others: the checkpoint with its
// twin, the logs and runs with their checksums, the runs with the logs, what is pending with what the queue holds, the filter with the
// log, page records with the events, the counters with all of them. It changes nothing without VerifyOptions.Repair.
//
// Its memory is the filter's, one bit a URL, at most 64 MiB of hashes, and a few bytes for each URL that was fetched more than once. Damage is part
// of the Report; an error means that the verification itself failed: store.ErrNotCrawl, a *store.LockedError while the
// crawl runs, a *store.VersionError, or an error of the disk.
func Verify(ctx context.Context, dir string, o VerifyOptions) (Report, error) {
	if o.Progress == nil {
		o.Progress = func(string, uint64, uint64) {}
	}
	v, err := verify(ctx, dir, o)
	if err != nil || !o.Repair || v.report.Sound {
		return v.close()
	}
	repaired, err := v.repair(ctx)
	report, closeErr := v.close()
	if err := errors.Join(err, closeErr); err != nil {
		return report, err
	}
	if len(repaired) == 0 {
		return report, nil
	}
	v, _ = verify(ctx, dir, o) // close returns its error
	v.report.Repaired = repaired
	return v.close()
}

// verifier is one verification.
type verifier struct {
	dir        string
	options    VerifyOptions
	inspection *store.Inspection // nil: closed, or never open
	report     Report
	failed     error
	named      map[string]int // damage so far, by part
	twin       bool           // the checkpoint is of the twin

	cut     store.Cut
	books   books
	cfg     Config
	names   *canon.Rules // of cfg
	done    *store.Bits  // whose last visit has ended
	counted counters     // as the logs and page records say

	queueLacks bool // numbers that are pending
}

func verify(ctx context.Context, dir string, o VerifyOptions) (*verifier, error) {
	v := &verifier{dir: dir, options: o, named: make(map[string]int), done: &store.Bits{}, counted: newCounters()}
	v.report.Damage, v.report.Unchecked, v.report.Repaired = []Damage{}, []string{}, []string{}
	v.failed = v.all(ctx)
	v.more()
	v.report.Sound = v.failed == nil && len(v.report.Damage) == 0
	return v, v.failed
}

// close ends the verification.
func (v *verifier) close() (Report, error) {
	err := v.failed
	if v.inspection != nil {
		err = errors.Join(err, v.inspection.Close())
		v.inspection = nil
	}
	return v.report, err
}

func (v *verifier) all(ctx context.Context) error {
	v.options.Progress("checkpoint", 0, 1)
	in, damage, err := store.Inspect(v.dir, v.options.Store)
	if err != nil {
		return err
	}
	v.inspection, v.twin = in, in.FromTwin()
	if err := v.noteAll(damage); err != nil {
		return err
	}
	cut, left := in.Cut()
	if !left {
		v.skip("everything else: no checkpoint is left")
		return nil
	}
	v.cut = cut
	v.report.Checkpoint, v.report.Admitted, v.report.Records = cut.Number, cut.Admissions.Entries, cut.Pages.Records
	if err := v.readBooks(); err != nil {
		return err
	}
	for _, check := range []func(context.Context) error{
		v.checkRows, v.checkSeeds, v.checkAdmissions, v.checkTwice, v.checkVisits, v.checkRuns, v.checkQueue, v.checkOutcomes,
	} {
		if err := errors.Join(check(ctx), ctx.Err()); err != nil {
			return err
		}
	}
	v.checkCounters()
	return nil
}

// skip notes what is not checked.
func (v *verifier) skip(what string) { v.report.Unchecked = append(v.report.Unchecked, what) }

// source is the file that the checkpoint was read from.
func (v *verifier) source() string {
	if v.twin {
		return filepath.Join(v.dir, "checkpoint")
	}
	return filepath.Join(v.dir, "state.db")
}

func (v *verifier) readBooks() (err error) {
	if v.books, err = readBooks(v.cut); err == nil {
		v.cfg, err = v.books.config()
	}
	if err == nil {
		v.names, err = canon.NewRules(v.cfg.Canon...)
	}
	if err == nil {
		return nil
	}
	d, ok := errors.AsType[*store.DamageError](err)
	if !ok {
		return err
	}
	v.found(partOf(v.dir, v.source()), v.source(), -1, d.Error())
	return nil
}

// checkSeeds reads the crawl's own copy of its seeds.
func (v *verifier) checkSeeds(context.Context) error {
	v.options.Progress(partSeeds, 0, 1)
	end := int64(0)
	for seed, err := range seedsIn(v.dir).from(0) {
		if err != nil {
			return v.note(err)
		}
		end = seed.end
	}
	if v.books.Seeds.Offset > end {
		v.found(partSeeds, string(seedsIn(v.dir)), end,
			fmt.Sprintf("the file ends here, the crawl has read it up to byte %d", v.books.Seeds.Offset))
		return nil
	}
	return v.note(seedsIn(v.dir).check(v.books.Seeds))
}

// checkRuns compares the runs with the logs.
func (v *verifier) checkRuns(ctx context.Context) error {
	v.options.Progress(partRuns, 0, 1)
	for _, err := range v.inspection.CheckRuns(ctx) {
		if d, ok := errors.AsType[*store.DamageError](err); ok && partOf(v.dir, d.File) != partRuns {
			continue // the log's, which is told already
		}
		if err := v.note(err); err != nil {
			return err
		}
	}
	return nil
}
