package frontier

import (
	"iter"
	"maps"
	"slices"
	"time"
)

// counters are kept as things change.
type counters struct {
	queued   int // tasks pending
	stranded int // of these, on hosts given up
	givenUp  int // hosts
	leased   [Page + 1]int
}

// Stats are the frontier's totals at one moment.
type Stats struct {
	Queued       int // tasks pending, stranded ones included
	Elsewhere    int // of these, not in memory
	Stranded     int // of Queued, on hosts given up; of those elsewhere only as far as they were met
	InFlight     int // page leases out
	Resolving    int // resolve leases out
	AskingRobots int // robots leases out
	Waiting      int // calls of Lease that wait
	Hosts        int // hosts in memory
	HostsDue     int // hosts with something to be leased now
	HostsIdle    int // hosts without work, remembered
	HostsGivenUp int
	GivenUpFor   map[Reason]int // of HostsGivenUp, by the reason
	Paused       bool
}

// Stats returns the totals.
func (f *Frontier) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.promote(f.now())
	return Stats{
		Queued:       f.counters.queued + f.elsewhere.n,
		Elsewhere:    f.elsewhere.n,
		Stranded:     f.stranded(),
		InFlight:     f.counters.leased[Page],
		Resolving:    f.counters.leased[Resolve],
		AskingRobots: f.counters.leased[Robots],
		Waiting:      f.waiters.n,
		Hosts:        len(f.hosts),
		HostsDue:     f.ready.n,
		HostsIdle:    f.idle.n,
		HostsGivenUp: f.counters.givenUp,
		GivenUpFor:   maps.Clone(f.givenUpFor),
		Paused:       f.paused,
	}
}

// stranded counts tasks on hosts given up. Once the frontier is drained, all that is left is on such hosts.
func (f *Frontier) stranded() int {
	if f.drained() {
		return f.counters.queued + f.elsewhere.n
	}
	return f.counters.stranded + f.elsewhere.stranded
}

// Host is what the frontier knows of a host at one moment.
type Host struct {
	Name      string
	Queued    int
	InFlight  int           // requests in flight, robots.txt included
	Resolving bool          // its addresses are being asked for
	NotBefore time.Time     // it is not asked before then; past for a host that may be asked
	Delay     time.Duration // between two requests
	Why       Source        // what set Delay, or NotBefore where that is longer away
	Failures  int           // in a row
	GivenUp   Reason        // empty: not given up
	Requests  uint64        // made to it, as far as it is remembered
}

// Hosts yields the hosts in memory, in no order, each as it is when its turn comes. The frontier may be used meanwhile.
func (f *Frontier) Hosts() iter.Seq[Host] {
	return func(yield func(Host) bool) {
		const atOnce = 256 // under one hold of the lock
		page := make([]Host, 0, atOnce)
		for hosts := range slices.Chunk(f.allHosts(), atOnce) {
			page = f.describe(page[:0], hosts)
			for _, h := range page {
				if !yield(h) {
					return
				}
			}
		}
	}
}

func (f *Frontier) allHosts() []*host {
	f.mu.Lock()
	defer f.mu.Unlock()
	hosts := make([]*host, 0, len(f.hosts))
	for _, h := range f.hosts {
		hosts = append(hosts, h)
	}
	return hosts
}

// describe appends what is known of hosts that are not forgotten by now.
func (f *Frontier) describe(to []Host, hosts []*host) []Host {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range hosts {
		if h.forgotten {
			continue
		}
		to = append(to, f.hostNow(h))
	}
	return to
}
