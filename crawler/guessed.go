package crawler

import (
	"errors"
	"sync"

	"crawl/canon"
	"crawl/fetch"
)

// guessedHosts are the hosts of seeds that came without a scheme: when https gives no answer there, http is tried.
type guessedHosts struct {
	mu    sync.RWMutex // guards hosts
	hosts map[string]struct{}
}

func newGuessedHosts() *guessedHosts { return &guessedHosts{hosts: make(map[string]struct{})} }

func (g *guessedHosts) add(host string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hosts[host] = struct{}{}
}

// has reports whether the scheme of u was a guess.
func (g *guessedHosts) has(u canon.URL) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	_, ok := g.hosts[u.Host()]
	return ok && u.Scheme() == "https"
}

// disproved reports whether err says that nobody listens where u's scheme was a guess: there is nothing to wait for. Any
// other failure may pass, and is tried again like any: http would only lead back to https.
func (g *guessedHosts) disproved(u canon.URL, err error) bool {
	failure, ok := errors.AsType[*fetch.Error](err)
	return ok && failure.Code() == fetch.CodeRefused && g.has(u)
}
