package crawler

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"crawl/store"
)

// checkQueue finds every pending number in a run of the queue, or in what a restart adds again. It takes the bits of what is
// done, and sets those that are found.
func (v *verifier) checkQueue(ctx context.Context) error {
	if v.report.has(partDone, partLog) {
		v.skip("what the queue holds: a log is damaged")
		return nil
	}
	found, admitted, covered := v.done, v.report.Admitted, v.cut.Queue
	v.done = nil
	if covered.Admissions > admitted || covered.Done > v.cut.Done.Entries {
		v.found(partRuns, filepath.Join(v.dir, "runs"), -1, fmt.Sprintf("the queue covers %d URLs and %d events, of %d and %d",
			covered.Admissions, covered.Done, admitted, v.cut.Done.Entries))
		return nil
	}
	_, err := v.inspection.EachEvent(ctx, covered.Done, func(_ uint64, e store.DoneEntry) error {
		found.Set(e.Seq) // pending or not: its last event is read again
		return nil
	})
	if err != nil {
		return err
	}
	n, strange := uint64(0), uint64(0)
	damage, err := v.inspection.EachQueued(ctx, func(seq uint64) error {
		if n++; n%progressEvery == 0 {
			v.options.Progress("queue", n, v.entries())
		}
		if seq == 0 || seq > admitted {
			strange++
			return nil
		}
		found.Set(seq)
		return nil
	})
	if err != nil {
		return err
	}
	for _, err := range damage {
		if d, ok := asDamage(err); ok && v.report.names(d.File) {
			continue // its checksums say so too
		}
		if err := v.note(err); err != nil {
			return err
		}
	}
	if strange > 0 {
		v.found(partRuns, filepath.Join(v.dir, "runs"), -1, fmt.Sprintf("%d entries of the queue are of URLs that were never admitted", strange))
	}
	v.lacking(found, covered.Admissions)
	return nil
}

// entries is how many the queue's runs have.
func (v *verifier) entries() (n uint64) {
	for _, info := range v.cut.Runs.Runs {
		if info.Kind == store.QueueRun {
			n += info.Entries
		}
	}
	return n
}

// lacking tells which numbers up to one were not found. Those of a damaged run are told with it.
func (v *verifier) lacking(found *store.Bits, upto uint64) {
	n := upto - (found.Count() - found.CountAfter(upto))
	if n == 0 || v.report.has(partRuns) {
		return
	}
	v.queueLacks = true
	const most = 10
	var stretches []string
	for seq := uint64(1); seq <= upto && len(stretches) < most; seq++ {
		if found.Test(seq) {
			continue
		}
		first := seq
		for seq < upto && !found.Test(seq+1) {
			seq++
		}
		stretches = append(stretches, fmt.Sprintf("%d to %d", first, seq))
	}
	if len(stretches) == most {
		stretches = append(stretches, "…")
	}
	v.found(partRuns, filepath.Join(v.dir, "runs"), -1,
		fmt.Sprintf("%d URLs are pending and in no run of the queue: %s", n, strings.Join(stretches, ", ")))
}

// names reports whether damage of a file is in the report.
func (r *Report) names(file string) bool {
	for _, d := range r.Damage {
		if d.File == file {
			return true
		}
	}
	return false
}
