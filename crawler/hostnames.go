package crawler

import (
	"strings"
	"sync"
)

// hostNames is a set of hosts. It is safe for concurrent use, and its zero value is empty.
type hostNames struct {
	mu  sync.RWMutex // guards all
	all map[string]struct{}
}

func (n *hostNames) add(host string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.all == nil {
		n.all = make(map[string]struct{})
	}
	n.all[strings.Clone(host)] = struct{}{}
}

func (n *hostNames) has(host string) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	_, found := n.all[host]
	return found
}
