package dns

import (
	"container/list"
	"net"
	"time"
)

// A crawl's frontier keeps the addresses of all hosts with work; what is remembered here serves the other scheme of a host,
// hosts that come back, and times without name servers. So it need not grow with the crawl.
const (
	cacheEntries = 32_768
	cacheBytes   = 8 << 20
)

// cache remembers what was found of names: the latest ones asked for.
type cache struct {
	byName map[string]*list.Element // of *entry
	recent *list.List               // the latest first
	bytes  int
}

func newCache() cache { return cache{byName: make(map[string]*list.Element), recent: list.New()} }

// entry is what was found of a name. It is not written to once it is in use, but for its times.
type entry struct {
	name string
	found
	failure error // the servers failed: nothing was found

	until time.Time // it holds
	own   time.Time // the end that the answer itself named
	stale time.Time // it stands in for none until then; zero while it need not
}

// size is about what an entry takes, its places in map and list included.
func (e *entry) size() int { return 320 + len(e.name) + 24*cap(e.addrs) }

// get returns what holds of a name, nil for nothing.
func (c *cache) get(name string, now time.Time) *entry {
	at := c.byName[name]
	if at == nil || !now.Before(at.Value.(*entry).until) {
		return nil
	}
	c.recent.MoveToFront(at)
	return at.Value.(*entry)
}

// put remembers what was found, and returns it. Where the servers failed, addresses that were known stand in, if they are
// not too old.
func (c *cache) put(name string, f found, failure error, minTTL time.Duration, now time.Time) *entry {
	e := &entry{name: name, found: f, failure: failure}
	switch {
	case failure != nil:
		if old := c.standIn(name, now); old != nil {
			return old
		}
		e.until = now.Add(failureTTL)
	case len(f.addrs) > 0:
		e.own = now.Add(min(f.ttl, maxTTL))
		e.until = now.Add(min(max(f.ttl, minTTL), maxTTL))
	default:
		e.own = now.Add(min(f.ttl, maxNegative))
		e.until = now.Add(min(max(f.ttl, minTTL), maxNegative))
	}
	c.remove(name)
	c.byName[name] = c.recent.PushFront(e)
	c.bytes += e.size()
	for c.recent.Len() > cacheEntries || c.bytes > cacheBytes {
		c.remove(c.recent.Back().Value.(*entry).name)
	}
	return e
}

// standIn returns the addresses that were known of name, made good for a while.
func (c *cache) standIn(name string, now time.Time) *entry {
	at := c.byName[name]
	if at == nil {
		return nil
	}
	e := at.Value.(*entry)
	if e.stale.IsZero() {
		e.stale = e.own.Add(staleFor)
	}
	if len(e.addrs) == 0 || !now.Before(e.stale) {
		return nil
	}
	e.until = now.Add(staleTTL)
	c.recent.MoveToFront(at)
	return e
}

// doubt forgets what holds longer than its answer said.
func (c *cache) doubt(name string) {
	at := c.byName[name]
	if at == nil {
		return
	}
	e := at.Value.(*entry)
	if e.stale.IsZero() && e.own.Before(e.until) {
		e.until = e.own
	}
}

func (c *cache) remove(name string) {
	at := c.byName[name]
	if at == nil {
		return
	}
	c.recent.Remove(at)
	c.bytes -= at.Value.(*entry).size()
	delete(c.byName, name)
}

// answer says what e means to one who asked for host.
func (e *entry) answer(host string, now time.Time) (Answer, error) {
	switch {
	case e.failure != nil:
		return Answer{}, failed(host, e.failure)
	case len(e.addrs) > 0:
		return Answer{Addrs: e.addrs, TTL: max(e.until.Sub(now), 0), Stale: !e.stale.IsZero()}, nil
	case e.noName:
		return Answer{}, notFound(host, "no such name")
	}
	return Answer{}, &net.DNSError{Err: "the name has no addresses", Name: host, IsNotFound: true}
}
