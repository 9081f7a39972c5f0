package frontier

import (
	"fmt"
	"strings"
)

// dump describes all that is in memory, for a test that fails.
func (f *Frontier) dump() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	now := f.now()
	e := f.elsewhere
	fmt.Fprintf(&b, "now %v, held %d, paused %t, waiters %d, ready %d, elsewhere %+v\n", now, f.numbers.held, f.paused, f.waiters.n, f.ready.n, e)
	for _, h := range f.hosts {
		fmt.Fprintf(&b, "%s: place %d due %v, %d queued, %d aside, %d in flight, not before %v, given up %q, backlog %t, large %t, wanted %d, behind %v, declined in %d, met in %d\n",
			h.name, h.place, h.due-now, h.queue.standing(), len(h.queue.aside), h.inFlight, f.notBefore(h)-now, h.givenUp, h.backlog, h.large, h.wanted, h.behind-now, h.declinedIn, h.metIn)
	}
	return b.String()
}
