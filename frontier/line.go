package frontier

import "math/bits"

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
func (l *line) grow(n int, spare *spareLines) {
	if n > cap(l.places)-len(l.places) {
		l.moveTo(spare.get(l.len()+n), spare)
	}
}

// join adds e at the end, where that is its place.
func (l *line) join(e entry) bool {
	if n := len(l.places); l.len() > 0 && e.before(&l.places[n-1]) {
		return false
	}
	if len(l.places) == cap(l.places) && l.left > 0 && l.left >= l.len() {
		l.moveUp()
	}
	l.places = append(l.places, e)
	return true
}

// pop removes the first, of which there must be one. What a line that is empty then needs no more goes to spare.
func (l *line) pop(spare *spareLines) Task {
	first := l.first().task()
	*l.first() = entry{} // it keeps no text alive
	l.left++
	switch n := l.len(); {
	case n == 0 && cap(l.places) <= 2: // most hosts have one task at a time
		l.places, l.left = l.places[:0], 0
	case n == 0:
		spare.put(l.places)
		*l = line{}
	case l.left > 16 && l.left > 3*n: // hosts come to have millions of tasks, and lose them
		l.moveTo(spare.get(2*n), spare)
	}
	return first
}

// moveUp closes the gap before the tasks.
func (l *line) moveUp() {
	n := copy(l.places, l.standing())
	clear(l.places[n:])
	l.places, l.left = l.places[:n], 0
}

// moveTo has the tasks stand in other memory, without a gap before them. That of now goes to spare.
func (l *line) moveTo(to []entry, spare *spareLines) {
	to = append(to, l.standing()...)
	clear(l.standing())
	spare.put(l.places)
	l.places, l.left = to, 0
}

// spareLines is memory of lines that have gone, for those that come: as many as a host's turn needs, each of which would
// otherwise be garbage before long.
type spareLines struct {
	bySize [9][][]entry // by the power of two that their capacity reaches
	places int          // in all of them
	most   int          // that are kept
}

// newSpareLines keeps as much as comes back at once: a sweep begins when an eighth of all tasks has gone (hasRoom).
func newSpareLines(maxTasks int) spareLines { return spareLines{most: maxTasks / 8} }

// get returns a line's memory for at least n places, n > 0.
func (s *spareLines) get(n int) []entry {
	size := bits.Len(uint(n - 1)) // 1<<size is enough
	if size >= len(s.bySize) {
		return make([]entry, 0, n)
	}
	last := len(s.bySize[size]) - 1
	if last < 0 {
		return make([]entry, 0, 1<<size) // which fits whoever has it next
	}
	places := s.bySize[size][last]
	s.bySize[size][last] = nil
	s.bySize[size] = s.bySize[size][:last]
	s.places -= cap(places)
	return places
}

// put takes back the memory of a line in which nothing stands.
func (s *spareLines) put(places []entry) {
	size := bits.Len(uint(cap(places))) - 1
	if size >= 0 && size < len(s.bySize) && s.places+cap(places) <= s.most {
		s.bySize[size] = append(s.bySize[size], places[:0])
		s.places += cap(places)
	}
}
