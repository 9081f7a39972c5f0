package seen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gofrs/flock"
)

const (
	// freshKeys is how many hashes gather in memory before they become a run: 16 MiB of memory, and 6 MB on the disk.
	freshKeys = 1 << 20
	// growthRatio is what a run is larger than all smaller ones together, at least, once merging has caught up. So a hash
	// that is there is found in the first run that is read in three of four cases, and in the next one in most others;
	// and each is written about six times on the way to 100 freshKeys, eight times on the way to a thousand.
	growthRatio = 3
	// maxRuns bounds the runs there are while merging has not caught up, and so those that one merge reads: whoever adds
	// waits for the merge then.
	maxRuns = 16
)

// hashRuns is a set of hashes in a folder: runs, of which the manifest names those that count, and in memory what is in no
// run yet. Hashes are only added that are not there, so no two runs hold the same one, and any of them may be merged.
//
// A run is durable before the manifest that names it, and is removed after the one that no longer does. So whatever
// moment a process ends at, the manifest's runs are whole. Files that it does not name are left over, and go when the
// folder is next opened.
//
// It has one owner. Merging is done by one goroutine beside it, which only reads runs and writes one file: the owner
// takes it in when it comes by. Hashes writes beside Find and add.
type hashRuns struct {
	disk     disk
	lock     *flock.Flock
	config   Config // as the manifest has it
	nextFile uint64
	merging  *merging // nil: none
	limit    int      // freshKeys
	sorted   []uint64 // of a run that is being made, reused
	spare    []uint64

	mu     sync.Mutex // guards all below; runs are changed by whoever writes alone, who may read them without it
	runs   []*part    // largest first
	closed bool
	fresh  hashSet
	order  []uint64 // of a look-up, reused
	reader pageReader
}

// merging is runs that are becoming one.
type merging struct {
	from   []*part
	number uint64
	cancel context.CancelFunc
	done   chan error // of one
}

// Find looks among the hashes in memory, and then in one run after another, the largest first.
func (r *hashRuns) Find(hashes []uint64, found []bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errClosed(r.disk.dir)
	}
	for len(hashes) > 0 {
		n := min(len(hashes), maxOrder)
		if err := r.find(hashes[:n], found[:n]); err != nil {
			return err
		}
		hashes, found = hashes[n:], found[n:]
	}
	return nil
}

func (r *hashRuns) find(hashes []uint64, found []bool) (err error) {
	for i, h := range hashes {
		found[i] = r.fresh.has(h)
	}
	r.order = appendOrder(r.order[:0], hashes, found)
	left := r.order
	for _, p := range r.runs {
		if len(left) == 0 {
			return nil
		}
		if left, err = p.find(&r.reader, hashes, left, found); err != nil {
			return err
		}
	}
	return nil
}

// room makes room for n hashes more: with them, what is in memory stays within its limit, or is all there is.
func (r *hashRuns) room(n int) error {
	if r.closed {
		return errClosed(r.disk.dir)
	}
	if r.fresh.n > 0 && r.fresh.n+n > r.limit {
		if err := r.sync(); err != nil {
			return err
		}
	}
	r.fresh.reserve(n)
	return nil
}

// add adds hashes that are not there, after room was made for them. They are durable after the next sync.
func (r *hashRuns) add(hashes []uint64) {
	for _, h := range hashes {
		r.fresh.add(h)
	}
}

// sync makes all hashes durable.
func (r *hashRuns) sync() error {
	if r.closed {
		return errClosed(r.disk.dir)
	}
	if err := r.flush(); err != nil {
		return err
	}
	r.merge()
	return nil
}

// flush makes a run of what is in memory, and takes in a merge that has ended. After an error all is as it was.
func (r *hashRuns) flush() error {
	changed, err := r.takeIn(r.fresh.appendTo(r.sorted[:0]))
	if changed {
		r.fresh.reset(r.fresh.n)
	}
	return err
}

// takeIn makes a run of hashes, which it may sort, if there are any, and has it count, together with a merge that has
// ended. Changed is false where there was neither, and on an error: all is as it was then.
func (r *hashRuns) takeIn(hashes []uint64) (changed bool, err error) {
	drop, add, err := r.merged(len(r.runs) >= maxRuns)
	if err != nil {
		return false, err
	}
	if len(hashes) > 0 {
		p, err := r.write(hashes)
		if err != nil {
			return false, errors.Join(err, r.disk.discard(add))
		}
		add = append(add, p)
	}
	if len(add) == 0 {
		return false, nil
	}
	if err := r.publish(add, drop); err != nil {
		return false, errors.Join(err, closeParts(add))
	}
	return true, nil
}

// write makes a run of hashes, which it may sort.
func (r *hashRuns) write(hashes []uint64) (*part, error) {
	r.sorted = hashes
	r.spare = slices.Grow(r.spare[:0], len(r.sorted))[:len(r.sorted)]
	radixSort(r.sorted, r.spare)
	number := r.takeNumber()
	err := r.disk.createRun(number, func(w *runWriter) error { return w.addSorted(r.sorted) })
	if err != nil {
		return nil, fmt.Errorf("seen: %w", err)
	}
	return r.disk.openRun(number)
}

// takeNumber returns a number that no file has had: one that may be named by a manifest is never written again.
func (r *hashRuns) takeNumber() uint64 {
	r.nextFile++
	return r.nextFile - 1
}

// publish replaces the manifest by one with other runs, and then lets go of those dropped. When it fails, either
// manifest may be the one that counts after a restart, so no file of either is removed before the next has succeeded.
func (r *hashRuns) publish(add, drop []*part) error {
	runs := slices.DeleteFunc(slices.Clone(r.runs), func(p *part) bool { return slices.Contains(drop, p) })
	runs = append(runs, add...)
	slices.SortStableFunc(runs, func(a, b *part) int { return compareKeys(b, a) })
	if err := r.disk.sync(); err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	if err := r.writeManifest(runs); err != nil {
		return err
	}
	r.mu.Lock()
	r.runs = runs
	r.reader.forget()
	r.mu.Unlock()
	// A file that stays is one that the manifest does not name: the next opening removes it.
	_ = r.disk.discard(drop)
	return nil
}

// bytes returns what the runs take on the disk.
func (r *hashRuns) bytes() int64 {
	var n int64
	for _, p := range r.runs {
		n += p.bytes()
	}
	return n
}

// memory returns what is allocated, in bytes, but for the buffers of a merge.
func (r *hashRuns) memory() int64 {
	words := len(r.fresh.slots) + cap(r.sorted) + cap(r.spare) + cap(r.order)
	for _, p := range r.runs {
		words += len(p.fence)
	}
	return 8*int64(words) + pageBytes
}

// close syncs, and lets go.
func (r *hashRuns) close() error {
	if r.closed {
		return nil
	}
	err := r.flush()
	return errors.Join(err, r.letGo())
}

// letGo closes all files and the folder. A merge that has not ended is given up, and so is what is in memory only.
func (r *hashRuns) letGo() error {
	r.abandon()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	return errors.Join(closeParts(r.runs), r.lock.Close())
}

func errClosed(dir string) error {
	return fmt.Errorf("seen: %s: %w", filepath.Clean(dir), os.ErrClosed)
}
