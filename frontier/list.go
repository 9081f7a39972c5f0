package frontier

// links join an element to a list. An element embeds one and is in one list at most.
type links[T any] struct {
	prev, next *T
}

func (l *links[T]) joined() *links[T] { return l }

// list is a doubly linked list through its elements: any of them leaves it at once, without allocating.
type list[T any, P interface {
	*T
	joined() *links[T]
}] struct {
	first, last P
	n           int
}

// push appends e.
func (l *list[T, P]) push(e P) {
	*e.joined() = links[T]{prev: l.last}
	if l.last == nil {
		l.first = e
	} else {
		l.last.joined().next = e
	}
	l.last = e
	l.n++
}

// pushFirst puts e before all others.
func (l *list[T, P]) pushFirst(e P) {
	*e.joined() = links[T]{next: l.first}
	if l.first == nil {
		l.last = e
	} else {
		l.first.joined().prev = e
	}
	l.first = e
	l.n++
}

// remove takes e out, which must be in l.
func (l *list[T, P]) remove(e P) {
	j := e.joined()
	if j.prev == nil {
		l.first = j.next
	} else {
		P(j.prev).joined().next = j.next
	}
	if j.next == nil {
		l.last = j.prev
	} else {
		P(j.next).joined().prev = j.prev
	}
	*j = links[T]{}
	l.n--
}
