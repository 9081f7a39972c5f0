package frontier

import "cmp"

// queue holds the pending tasks of one host that are in memory: a heap. It may be refilled at any time, in any order.
//
// Tasks at the head (retried, rerouted, returned) come before all others, by NotBefore and then Seq. The others come by
// Class, Depth and Seq.
type queue struct {
	entries []entry
}

type entry struct {
	Task
	head bool
}

func (q *queue) len() int { return len(q.entries) }

// peek returns the first task, which push and pop invalidate; nil for none.
func (q *queue) peek() *Task {
	if len(q.entries) == 0 {
		return nil
	}
	return &q.entries[0].Task
}

// push adds t and reports whether it is now the first.
func (q *queue) push(t Task, head bool) (first bool) {
	e := entry{t, head}
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

// pop removes the first task. The queue must not be empty.
func (q *queue) pop() Task {
	first := q.entries[0].Task
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

// before reports whether e is taken before other.
func (e *entry) before(other *entry) bool {
	if e.head != other.head {
		return e.head
	}
	if e.head {
		return cmp.Or(e.NotBefore.Compare(other.NotBefore), cmp.Compare(e.Seq, other.Seq)) < 0
	}
	if e.Class != other.Class {
		return e.Class < other.Class
	}
	if e.Depth != other.Depth {
		return e.Depth < other.Depth
	}
	return e.Seq < other.Seq
}
