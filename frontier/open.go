package frontier

// open is a lease that has not ended.
type open struct {
	id          uint64 // as in its Lease; 0 in a free slot
	kind        Kind
	host        *host
	task        Task    // of a page
	ask         *ask    // of a robots.txt
	origin      *origin // of a resolve lease
	leasedAt    moment  // never for one that is not for a request
	leaseBefore moment  // the last before it on its host

	address         *address // of a request, with Config.PerIP
	addressBefore   moment   // the last lease before it there
	addressLeasedBy *host    // of that one
}

// openLeases is a table of the leases that have not ended. It grows to as many slots as were in use at once.
type openLeases struct {
	slots  []open
	free   []int
	lastID uint64
}

// add opens op, which has its id, and notes in l where.
func (t *openLeases) add(op open, l *Lease) {
	if len(t.free) == 0 {
		t.free = append(t.free, len(t.slots))
		t.slots = append(t.slots, open{})
	}
	last := len(t.free) - 1
	l.slot, t.free = t.free[last], t.free[:last]
	l.id = op.id
	t.slots[l.slot] = op
}

// newID returns the id of a new lease.
func (t *openLeases) newID() uint64 {
	t.lastID++
	return t.lastID
}

// get returns what is open under l; nil when l has ended.
func (t *openLeases) get(l Lease) *open {
	if l.id == 0 || l.slot >= len(t.slots) || t.slots[l.slot].id != l.id {
		return nil
	}
	return &t.slots[l.slot]
}

// remove ends l, which is open.
func (t *openLeases) remove(l Lease) {
	t.slots[l.slot] = open{}
	t.free = append(t.free, l.slot)
}

func (t *openLeases) len() int { return len(t.slots) - len(t.free) }
