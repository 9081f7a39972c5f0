package frontier

import (
	"net/netip"
	"strings"

	"crawl/canon"
)

// host is what the frontier knows of one host. It passes through resolving and robots before its pages are leased; which
// of the three comes next is not stored but follows from what is known of the origin of its first task.
//
// The fields that each lease and its end look at come first, so that they lie in few cache lines.
type host struct {
	links[host] // in Frontier.ready, Frontier.idle or address.line

	due       moment // where place is ready, waiting or idle
	until     moment // it backs off until then
	behind    moment // the first of its tasks elsewhere that are not to be tried yet is due then; forever for none
	policy    *policy
	index     int32 // in Frontier.waiting
	place     place
	asking    uint8 // origins whose ask is there
	forgotten bool  // it is no longer in Frontier.hosts
	resolving bool
	marked    bool // it is in Frontier.changed
	guest     bool // its last request was for the rules of another host's origin

	// Of its tasks that are not in memory:
	backlog bool // some may wait elsewhere that could be asked for
	large   bool // so many that they are asked for by name
	owing   bool // it is counted in elsewhere.owing
	wanted  want // how more of them are asked for

	pace
	tempo
	queue      queue
	crawlDelay moment          // the greatest that its origins' rules ask for
	asks       list[ask, *ask] // robots.txt files to be asked for here; they come before all tasks
	origins    [2]*origin      // by isHTTPS, nil until there is something to know
	only       origin          // the first of them: few hosts have another
	at         *address        // of which it has the turn, or in whose line it stands; nil for none
	givenUp    Reason
	failures   int    // in a row
	pages      uint64 // page records over the crawl's life
	bytes      uint64 // of bodies
	requests   uint64

	name      string // a part of https
	https     string // the name of its origin with that scheme
	heldFor   Source // why it is not asked before until; None for a wait that an earlier process left
	delayKept moment // the delay that its durable state holds; 0 where HostDelay says enough
	kept      bool   // Changed has returned a state for it that is not the zero state

	// Of its tasks that are not in memory, too:
	named      bool   // they were asked for by name so that reading goes on somewhere
	rewind     bool   // that is to begin anew
	rewinding  bool   // it does, when the wish is answered
	readTo     order  // if backlog: tasks that come later may wait elsewhere, earlier ones hardly
	declinedIn uint64 // round in which the last one was left there
	metIn      uint64 // round in which the last refill or sweep came by
	stranded   int    // as far as they were met since it was given up
}

// origin is what is known of one scheme, host and port.
type origin struct {
	host *host
	name string

	addrs     []netip.AddrPort
	addrsErr  error
	addrsTerm term
	address   *address // the first of addrs; nil for none, and without Config.PerIP

	rules      Permission
	rulesTerm  term
	crawlDelay moment // the delay that rules ask for, capped
	ask        *ask   // the question for its robots.txt that is not answered yet
}

// term is how long something learnt is held true. What was just learnt serves one lease in any case: with a time to
// live of zero a host would otherwise ask for its addresses and rules for ever.
type term struct {
	until  moment
	unused bool
}

func (t term) over(now moment) bool { return !t.unused && now >= t.until }

// host returns the host of that name, a new one if need be.
func (f *Frontier) host(name string) *host {
	h := f.hosts[name]
	if h == nil {
		if h = f.leaving[name]; h != nil {
			delete(f.leaving, name)
			h.forgotten = false
			f.joinAddresses(h)
		} else {
			h = f.newHost(name)
		}
		if f.rereads.take(h.name) {
			h.named, h.rewind = true, true // named too, so that it is remembered again if h leaves before it is read
		}
		f.hosts[h.name] = h
	}
	return h
}

func (f *Frontier) newHost(name string) *host {
	const scheme = "https://"
	https := scheme + name // which keeps no URL alive
	h := &host{name: https[len(scheme):], https: https, pace: newPace(), until: never, behind: forever}
	h.policy = f.overrides.of(h.name)
	if f.cfg.Resumed {
		h.lastEnd = 0 // as if the last request of the crawl before had ended when this one began
	}
	if f.cfg.Lookup != nil {
		if s, ok := f.cfg.Lookup(h.name); ok {
			f.adopt(h, s)
		}
	}
	if h.givenUp == "" && h.overBudget() {
		f.setGivenUp(h, BudgetUsed)
		f.mark(h)
	}
	return h
}

// origin returns u's origin, a new one if need be. u is of host h.
func (h *host) origin(u canon.URL) *origin {
	o := &h.origins[isHTTPS(u)]
	if *o == nil {
		*o = &h.only
		if h.only.host != nil {
			*o = new(origin)
		}
		(*o).host, (*o).name = h, h.https
		if name := u.Origin(); name != h.https {
			(*o).name = strings.Clone(name)
		}
	}
	return *o
}

// setAsk notes the question for o's rules; nil: there is none.
func (o *origin) setAsk(a *ask) {
	if o.ask != nil {
		o.host.asking--
	}
	if a != nil {
		o.host.asking++
	}
	o.ask = a
}

// noteCrawlDelay follows a change of an origin's delay.
func (h *host) noteCrawlDelay() {
	h.crawlDelay = 0
	for _, o := range h.origins {
		if o != nil {
			h.crawlDelay = max(h.crawlDelay, o.crawlDelay)
		}
	}
}

// isHTTPS returns 1 for https and 0 for http: of these two only one has an s there.
func isHTTPS(u canon.URL) int {
	if u.String()[len("http")] == 's' {
		return 1
	}
	return 0
}

// busy reports whether something of h is leased, or asked for at it or for it.
func (h *host) busy() bool {
	if h.resolving || h.inFlight > 0 || h.asks.first != nil {
		return true
	}
	for _, o := range h.origins {
		if o != nil && o.ask != nil {
			return true
		}
	}
	return false
}
