package crawler

import (
	"strings"
	"sync"

	"crawl/canon"
)

// seedOrigins are the origins that credentials may go to: those of seeds and of what was added. What a seed redirects to is
// none of them, although it joins the scope. A nil *seedOrigins trusts nothing.
type seedOrigins struct {
	mu  sync.RWMutex // guards all below
	all map[string]struct{}
}

func newSeedOrigins() *seedOrigins { return &seedOrigins{all: make(map[string]struct{})} }

// add takes in the origin of a seed. Its memory is one entry for each of them.
func (o *seedOrigins) add(seed canon.URL) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all[strings.Clone(seed.Origin())] = struct{}{}
}

// trusts reports whether u is of a seed's origin, or the same host by https. The other way round a password would be
// readable to all on the way.
func (o *seedOrigins) trusts(u canon.URL) bool {
	if o == nil {
		return false
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	origin := u.Origin()
	if _, found := o.all[origin]; found {
		return true
	}
	rest, secure := strings.CutPrefix(origin, "https")
	if !secure || u.Host() != u.Hostname() && !strings.HasSuffix(u.Host(), "]") { // another port is another server
		return false
	}
	_, found := o.all["http"+rest]
	return found
}
