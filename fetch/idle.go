package fetch

import (
	"net/netip"
	"sync"
	"time"
)

// idleConns keeps connections between exchanges: for a while, so many in all, so many a key. At the cap the one that has
// been idle longest is closed. Connections of HTTP/2 that are in use it knows as well, since others may join.
type idleConns struct {
	max, maxPerKey int
	timeout        time.Duration

	mu     sync.Mutex // guards all below, and idleConn of those kept
	newest map[connKey]*conn
	busy   map[connKey]*conn // of HTTP/2, in use, that others may join
	order  idleList
	expiry *time.Timer // set while connections are kept, and perhaps once after
	closed bool
}

// idleConn is a connection's place among the idle ones.
type idleConn struct {
	reused       bool // has served an exchange before
	since        time.Time
	older, newer *conn // of all
	below        *conn // the next older one of the same key

	users int  // exchanges over HTTP/2
	spent bool // no further ones
}

// idleList holds all idle connections in the order in which they became so, which is that in which they expire.
type idleList struct {
	oldest, newest *conn
	n              int
}

func (l *idleList) push(cn *conn) {
	cn.older, cn.newer = l.newest, nil
	if l.newest != nil {
		l.newest.newer = cn
	} else {
		l.oldest = cn
	}
	l.newest = cn
	l.n++
}

func (l *idleList) remove(cn *conn) {
	if cn.older != nil {
		cn.older.newer = cn.newer
	} else {
		l.oldest = cn.newer
	}
	if cn.newer != nil {
		cn.newer.older = cn.older
	} else {
		l.newest = cn.older
	}
	cn.older, cn.newer = nil, nil
	l.n--
}

func newIdleConns(maxConns, maxPerKey int, timeout time.Duration) *idleConns {
	return &idleConns{max: maxConns, maxPerKey: maxPerKey, timeout: timeout, newest: make(map[connKey]*conn), busy: make(map[connKey]*conn)}
}

// take returns a kept connection to origin at one of addrs, by that proxy, or nil.
func (p *idleConns) take(origin string, via *proxy, addrs []netip.AddrPort) *conn {
	for _, addr := range addrs {
		key := connKey{origin, addr, via}
		for cn := p.pop(key); cn != nil; cn = p.pop(key) {
			if cn.quiet() {
				return cn
			}
			cn.close()
		}
	}
	return nil
}

// pop returns a kept connection, or one of HTTP/2 that it has joined.
func (p *idleConns) pop(key connKey) *conn {
	for {
		cn, dead := p.next(key)
		if !dead {
			return cn
		}
		cn.close()
	}
}

// next is pop, but for a connection of HTTP/2 that has ended while idle.
func (p *idleConns) next(key connKey) (cn *conn, dead bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cn := p.busy[key]; cn != nil && cn.h2.client.Reserve() == nil {
		cn.users++
		return cn, false
	}
	if cn = p.newest[key]; cn == nil {
		return nil, false
	}
	p.remove(cn)
	switch {
	case cn.h2 == nil:
		return cn, false
	case !cn.h2.usable() || cn.h2.client.Reserve() != nil:
		return cn, true
	}
	p.enter(cn)
	return cn, false
}

// share makes a new connection of HTTP/2 one that others may join. Its first exchange is under way.
func (p *idleConns) share(cn *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = cn.h2.client.Reserve() // where it fails the exchange will
	p.enter(cn)
}

func (p *idleConns) enter(cn *conn) {
	cn.users = 1
	if p.busy[cn.key] == nil || p.busy[cn.key].spent {
		p.busy[cn.key] = cn
	}
}

// leave ends an exchange over HTTP/2. After the last one the connection is idle, or closed.
func (p *idleConns) leave(cn *conn, keep bool) {
	p.mu.Lock()
	cn.users--
	cn.spent = cn.spent || !keep || !cn.h2.usable()
	if p.busy[cn.key] == cn && (cn.spent || cn.users == 0) {
		delete(p.busy, cn.key)
	}
	drop := cn
	if cn.users > 0 {
		drop = nil
	} else if !cn.spent {
		drop = p.keep(cn)
	}
	p.mu.Unlock()
	if drop != nil {
		drop.close()
	}
}

// put keeps cn, or closes it.
func (p *idleConns) put(cn *conn) {
	p.mu.Lock()
	drop := p.keep(cn)
	p.mu.Unlock()
	if drop != nil {
		drop.close()
	}
}

// keep adds cn and returns what has to go for it, perhaps cn itself.
func (p *idleConns) keep(cn *conn) (drop *conn) {
	if p.closed || p.countOf(cn.key) >= p.maxPerKey {
		return cn
	}
	if p.order.n >= p.max {
		drop = p.order.oldest
		p.remove(drop)
	}
	cn.reused = true
	cn.since = time.Now()
	cn.below = p.newest[cn.key]
	p.newest[cn.key] = cn
	p.order.push(cn)
	if p.expiry == nil {
		p.expiry = time.AfterFunc(p.timeout, p.expire)
	}
	return drop
}

func (p *idleConns) countOf(key connKey) (n int) {
	for cn := p.newest[key]; cn != nil; cn = cn.below {
		n++
	}
	return n
}

func (p *idleConns) remove(cn *conn) {
	p.order.remove(cn)
	top := p.newest[cn.key]
	switch {
	case top != cn:
		for top.below != cn {
			top = top.below
		}
		top.below = cn.below
	case cn.below != nil:
		p.newest[cn.key] = cn.below
	default:
		delete(p.newest, cn.key)
	}
	cn.below = nil
}

// expire closes what has been idle too long, and comes back for the next.
func (p *idleConns) expire() {
	p.mu.Lock()
	var dead []*conn
	for cn := p.order.oldest; cn != nil && time.Since(cn.since) >= p.timeout; cn = p.order.oldest {
		p.remove(cn)
		dead = append(dead, cn)
	}
	p.expiry = nil
	if next := p.order.oldest; next != nil && !p.closed {
		p.expiry = time.AfterFunc(p.timeout-time.Since(next.since), p.expire)
	}
	p.mu.Unlock()
	for _, cn := range dead {
		cn.close()
	}
}

func (p *idleConns) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

func (p *idleConns) close() {
	p.mu.Lock()
	p.closed = true
	if p.expiry != nil {
		p.expiry.Stop()
	}
	p.mu.Unlock()
	p.closeAll()
}

// closeAll closes what is idle now.
func (p *idleConns) closeAll() {
	p.mu.Lock()
	var all []*conn
	for cn := p.order.oldest; cn != nil; cn = p.order.oldest {
		p.remove(cn)
		all = append(all, cn)
	}
	p.mu.Unlock()
	for _, cn := range all {
		cn.close()
	}
}
