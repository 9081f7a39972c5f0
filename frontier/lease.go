package frontier

import (
	"net/netip"
	"strconv"
	"time"
)

// Kind is what a lease asks for.
type Kind uint8

// The kinds.
const (
	Resolve Kind = iota + 1 // the addresses of URL's host; ended by Resolved or ResolveFailed
	Robots                  // the robots.txt at URL; ended by Permit, RedirectRobots, Retry or AskAgain
	Page                    // the page at URL; ended by Done, Retry, Reroute or AskAgain
)

// String returns the kind's name in lower case.
func (k Kind) String() string {
	switch k {
	case Resolve:
		return "resolve"
	case Robots:
		return "robots"
	case Page:
		return "page"
	}
	return "kind " + strconv.Itoa(int(k))
}

// Permission is what an origin's robots.txt said. Of that the frontier understands only the delay.
type Permission interface {
	// Delay returns the Crawl-delay, if there is one. It is called under the frontier's lock.
	Delay() (time.Duration, bool)
	// Size returns how many bytes of memory the rules take, about. It is called under the frontier's lock.
	Size() int64
}

// Lease is the right to make one request, and the duty to say how it ended. A lease of any kind may also be ended by
// Return. Ending one twice gives ErrNotLeased.
type Lease struct {
	Kind Kind
	// Task is what is to be requested. Of the kinds Resolve and Robots only URL and, for Robots, Attempt and Fresh are set.
	Task
	// Origin is whose addresses or rules are asked for, or the page's.
	Origin string
	// RobotsHop counts the redirects that led from Origin's robots.txt to URL.
	RobotsHop int
	// RobotsOverdue says that a robots.txt was not answered before its deadline. The lease is not for a request, but to
	// be ended by Permit with what holds for an origin that does not answer.
	RobotsOverdue bool
	// Addrs are the addresses to be asked, and no others. Leases share them: they are not to be written to.
	Addrs []netip.AddrPort
	// ResolveErr is why there are none. The lease is not for a request, but to be ended with a failure.
	ResolveErr error
	// Permission is what Origin's robots.txt said, of the kind Robots what it said when it was asked for before; nil where it
	// said nothing, is ignored, or there is a ResolveErr.
	Permission Permission
	Promise    Promise // of a lease for a request
	LeasedAt   time.Time

	id   uint64 // no other lease has it, ever
	slot int    // in Frontier.open
}

// Outcome is how a lease ended.
type Outcome struct {
	// Requested says that the host was asked. Without a request, as when robots.txt forbids it, a lease costs no delay.
	Requested bool
	// Failed says that the host gave no answer, or that it has too much to do (status 429 or 503): it backs off.
	Failed bool
	// Unreached says that no connection to any of the addresses came about: they are looked up anew before the next lease
	// that has them, whatever their time to live.
	Unreached bool
	// Took is the response time.
	Took time.Duration
	// Recorded says that a page record came of it, and Bytes how large its body was: both count against the host's budget.
	Recorded bool
	Bytes    int64
	// RetryAfter is how long the server wants to be left alone; 0 for no such word.
	RetryAfter time.Duration
}
