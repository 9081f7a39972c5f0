package frontier

import (
	"iter"
	"slices"
	"time"
)

// queue holds the pending tasks of one host that are in memory. It may be refilled at any time, in any order.
//
// Tasks at the head (retried, rerouted, returned) come before all others, by NotBefore and then Seq. The others come by
// Class, Depth and Seq. Tasks that must not be tried again yet stand aside until they are due: one bad page does not hold
// up the others of its host.
//
// Nearly all tasks come in the order in which they are taken: these stand in line, and cost one place in it. Others stray,
// into a heap.
type queue struct {
	line   line
	strays entryHeap
	aside  []Task // by NotBefore, the earliest last; few
}

func (q *queue) len() int { return q.standing() + len(q.aside) }

// standing is how many tasks are not aside.
func (q *queue) standing() int { return q.line.len() + len(q.strays) }

// all returns the tasks that are not aside, in no order. They are not to be changed.
func (q *queue) all() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for _, part := range [...][]entry{q.line.standing(), q.strays} {
			for i := range part {
				if !yield(&part[i]) {
					return
				}
			}
		}
	}
}

// putAside keeps t until it is due.
func (q *queue) putAside(t Task) {
	i, _ := slices.BinarySearchFunc(q.aside, t, func(a, b Task) int { return b.NotBefore.Compare(a.NotBefore) })
	q.aside = slices.Insert(q.aside, i, t)
}

// wake moves what is due by now from aside to the head, and reports whether that was anything.
func (q *queue) wake(now time.Time) (some bool) {
	for n := len(q.aside); n > 0 && !q.aside[n-1].NotBefore.After(now); n = len(q.aside) {
		q.push(q.aside[n-1], true)
		q.aside[n-1] = Task{}
		q.aside = q.aside[:n-1]
		some = true
	}
	return some
}

// next returns when the first task aside is due. There must be one.
func (q *queue) next() time.Time { return q.aside[len(q.aside)-1].NotBefore }

// peek returns the first task but for those aside, which push, pop and wake invalidate; nil for none.
func (q *queue) peek() *entry {
	switch {
	case q.strayFirst():
		return &q.strays[0]
	case q.line.len() > 0:
		return q.line.first()
	}
	return nil
}

// strayFirst reports whether the first task is a stray.
func (q *queue) strayFirst() bool {
	return len(q.strays) > 0 && (q.line.len() == 0 || q.strays[0].before(q.line.first()))
}

// push adds t and reports whether it is now the first.
func (q *queue) push(t Task, head bool) (first bool) {
	e := newEntry(&t, head)
	p := q.peek()
	first = p == nil || e.before(p)
	if !q.line.join(e) {
		q.strays.push(e)
	}
	return first
}

// pop removes the first task, which peek must have found.
func (q *queue) pop(spare *spareLines) Task {
	if q.strayFirst() {
		e := q.strays.pop()
		return e.task()
	}
	return q.line.pop(spare)
}

// greatest returns the order of the task that comes last by class, depth and number; the zero order for none.
func (q *queue) greatest() (last order) {
	for e := range q.all() {
		if o := e.order(); o.compare(last) > 0 {
			last = o
		}
	}
	return last
}

// cut keeps the first n tasks that are not aside, and returns the others.
func (q *queue) cut(n int) (rest []entry) {
	all := append(q.line.standing(), q.strays...)
	slices.SortFunc(all, func(a, b entry) int {
		if a.before(&b) {
			return -1
		}
		return 1
	})
	q.line, q.strays = line{places: slices.Clone(all[:n])}, nil
	return all[n:]
}
