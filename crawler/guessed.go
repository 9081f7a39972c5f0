package crawler

import "sync"

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

func (g *guessedHosts) has(host string) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	_, ok := g.hosts[host]
	return ok
}
