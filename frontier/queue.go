package frontier

import (
	"slices"
	"time"
)

// queue holds the pending tasks of one host that are in memory: a heap. It may be refilled at any time, in any order.
//
// Tasks at the head (retried, rerouted, returned) come before all others, by NotBefore and then Seq. The others come by
// Class, Depth and Seq. Tasks that must not be tried again yet stand aside until they are due: one bad page does not hold
// up the others of its host.
type queue struct {
	entries []entry
	aside   []Task // by NotBefore, the earliest last; few
}

func (q *queue) len() int { return len(q.entries) + len(q.aside) }

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
	if len(q.entries) == 0 {
		return nil
	}
	return &q.entries[0]
}

// push adds t and reports whether it is now the first.
func (q *queue) push(t Task, head bool) (first bool) {
	e := newEntry(&t, head)
	q.entries = append(q.entries, e)
	i := len(q.entries) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&q.entries[parent]) {
			break
		}
		q.entries[i] = q.entries[parent]
		i = parent
	}
	q.entries[i] = e
	return i == 0
}

// greatest returns the order of the task that comes last by class, depth and number; the zero order for none.
func (q *queue) greatest() (last order) {
	for i := range q.entries {
		if o := q.entries[i].order(); o.compare(last) > 0 {
			last = o
		}
	}
	return last
}

// pop removes the first task, which peek must have found.
func (q *queue) pop() Task {
	first := q.entries[0].task()
	last := len(q.entries) - 1
	e := q.entries[last]
	q.entries[last] = entry{}
	q.entries = q.entries[:last]
	q.sink(e)
	q.shrink()
	return first
}

// sink puts e where the first entry was taken from, and down from there.
func (q *queue) sink(e entry) {
	n := len(q.entries)
	if n == 0 {
		return
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && q.entries[child+1].before(&q.entries[child]) {
			child++
		}
		if !q.entries[child].before(&e) {
			break
		}
		q.entries[i] = q.entries[child]
		i = child
	}
	q.entries[i] = e
}

// shrink gives memory back once three quarters of it are unused: hosts come to have millions of tasks, and lose them.
func (q *queue) shrink() {
	switch n := len(q.entries); {
	case n == 0 && cap(q.entries) > 1:
		q.entries = nil
	case cap(q.entries) > 16 && n <= cap(q.entries)/4:
		q.entries = append(make([]entry, 0, 2*n), q.entries...)
	}
}
