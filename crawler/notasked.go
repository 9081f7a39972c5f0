package crawler

import (
	"errors"
	"sync"

	"crawl/frontier"
	"crawl/internal/scope"
)

// errNotAsked stands for the addresses of a host that nobody looked up: a rule refuses the URL that wanted them, so
// that neither name servers nor a robots.txt need be asked for its sake.
var errNotAsked = errors.New("a rule refuses the URL, so its host was not looked up")

// robotsPath is where every site has its robots.txt.
const robotsPath = "/robots.txt"

// needless ends the question for the addresses of a URL's host where the scope or alike_hosts refuses that URL. The answer
// serves one lease: the next URL asks anew. The question does not tell whose URL it is, nor how deep; one that is not refused
// after all says so by askNext.
func (c *Crawler) needless(l frontier.Lease) bool {
	if l.URL.Path() == robotsPath {
		return false
	}
	_, refused := c.namesakes.refuses(l.URL)
	refused = refused || !c.scope.Test(l.URL, scope.Place{Depth: scope.UnknownDepth}).Admitted && !c.mayCheck(l.URL)
	return refused && !c.askNext.take(l.URL.Origin())
}

// notAsked returns a lease that came without addresses although its URL is to be asked: a seed's redirect, which no rule
// of the scope binds, or a site's robots.txt that redirected to an odd place.
func (c *Crawler) notAsked(l frontier.Lease) bool {
	if !errors.Is(l.ResolveErr, errNotAsked) {
		return false
	}
	c.askNext.add(l.URL.Origin())
	return true
}

// origins is a set of a few of them.
type origins struct {
	mu  sync.Mutex // guards all below
	all map[string]struct{}
}

// maxOrigins bounds it. One that is forgotten is added again.
const maxOrigins = 1 << 12

func (o *origins) add(origin string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil || len(o.all) >= maxOrigins {
		o.all = make(map[string]struct{})
	}
	o.all[origin] = struct{}{}
}

// take takes one out, and reports whether it was there.
func (o *origins) take(origin string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, found := o.all[origin]
	delete(o.all, origin)
	return found
}
