package seen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

func compareKeys(a, b *part) int { return cmp.Compare(a.keys, b.keys) }

// due returns the runs to merge: the largest one that is not large enough beside all smaller ones together, and those.
// runs is sorted, the largest first.
func due(runs []*part) []*part {
	from, sum := len(runs), uint64(0)
	for i, p := range slices.Backward(runs) {
		if sum > 0 && p.keys < growthRatio*sum {
			from = i
		}
		sum += p.keys
	}
	return slices.Clone(runs[from:])
}

// merge begins to merge the runs that are due, unless it is at it.
func (r *hashRuns) merge() {
	from := due(r.runs)
	if r.merging != nil || len(from) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &merging{from: from, number: r.takeNumber(), cancel: cancel, done: make(chan error, 1)}
	r.merging = m
	disk := r.disk
	go func() { m.done <- m.write(ctx, disk) }()
}

func (m *merging) write(ctx context.Context, disk disk) error {
	return disk.createRun(m.number, func(w *runWriter) error { return mergeRuns(ctx, w, runsOf(m.from)) })
}

// merged takes in a merge that has ended, or ends within the call if it is to be waited for: the runs to drop, and the
// one to add. It returns none while there is none. A merge that failed is begun again some time.
func (r *hashRuns) merged(wait bool) (drop, add []*part, err error) {
	m := r.merging
	if m == nil {
		return nil, nil, nil
	}
	if wait {
		err = <-m.done
	} else {
		select {
		case err = <-m.done:
		default:
			return nil, nil, nil
		}
	}
	m.cancel()
	r.merging = nil
	if err != nil {
		return nil, nil, fmt.Errorf("seen: merge: %w", err)
	}
	p, err := r.disk.openRun(m.number)
	if err != nil {
		return nil, nil, err
	}
	if want := keysOf(m.from); p.keys != want {
		err := p.damaged(p.bytes(), errKeys(p.keys, want))
		return nil, nil, errors.Join(err, r.disk.discard([]*part{p}))
	}
	return m.from, []*part{p}, nil
}

// abandon ends a merge, and waits for that. Its file is no run.
func (r *hashRuns) abandon() {
	m := r.merging
	if m == nil {
		return
	}
	m.cancel()
	r.merging = nil
	if err := <-m.done; err == nil {
		_ = r.disk.remove(runName(m.number)) // what stays is not named, and goes with the next opening
	}
}
