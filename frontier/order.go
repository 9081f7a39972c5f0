package frontier

import "cmp"

// order is a task's place among the tasks of its host: by class, then depth, then sequence number.
type order struct {
	class Class
	depth int
	seq   uint64
}

func (t *Task) order() order { return order{t.Class, t.Depth, t.Seq} }

func (o order) compare(other order) int {
	return cmp.Or(cmp.Compare(o.class, other.class), cmp.Compare(o.depth, other.depth), cmp.Compare(o.seq, other.seq))
}
