package frontier

// line is tasks in the order in which they are taken.
type line struct {
	places []entry
	left   int // of places, the first, which nobody stands in any more
}

func (l *line) len() int { return len(l.places) - l.left }

// standing returns the tasks, which join and pop invalidate.
func (l *line) standing() []entry { return l.places[l.left:] }

// first returns the first task. There must be one.
func (l *line) first() *entry { return &l.places[l.left] }

// grow makes room for n more.
func (l *line) grow(n int) {
	if n > cap(l.places)-len(l.places) {
		l.moveUp(make([]entry, 0, l.len()+n))
	}
}

// join adds e at the end, where that is its place.
func (l *line) join(e entry) bool {
	if n := len(l.places); l.len() > 0 && e.before(&l.places[n-1]) {
		return false
	}
	if len(l.places) == cap(l.places) && l.left > 0 && l.left >= l.len() {
		l.moveUp(l.places[:0])
	}
	l.places = append(l.places, e)
	return true
}

// pop removes the first, of which there must be one.
func (l *line) pop() Task {
	first := l.first().task()
	*l.first() = entry{} // it keeps no text alive
	l.left++
	switch n := l.len(); {
	case n == 0 && cap(l.places) <= 2: // most hosts have one task at a time
		l.places, l.left = l.places[:0], 0
	case n == 0:
		*l = line{}
	case l.left > 16 && l.left > 3*n: // hosts come to have millions of tasks, and lose them
		l.moveUp(make([]entry, 0, 2*n))
	}
	return first
}

// moveUp has the tasks stand in to, without a gap before them.
func (l *line) moveUp(to []entry) {
	to = append(to, l.standing()...)
	clear(l.places[min(len(to), len(l.places)):]) // where to is the same memory
	l.places, l.left = to, 0
}
