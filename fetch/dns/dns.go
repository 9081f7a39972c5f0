// Package dns looks up the addresses of hosts, and remembers the answers for as long as they say.
//
// A name is asked for once however many wait for it, and again only when its time to live is over, which is never taken
// for shorter than Config.MinTTL nor for longer than a day. That a name does not exist, or has no addresses, is remembered
// too. When no name server can be had, an answer that is over serves for up to a day more (RFC 8767). The hosts file goes
// before the name servers. A name that is in no cache costs one query of each address family, UDP first, TCP where the
// answer does not fit.
//
// The price: only addresses are looked up, nothing is validated by DNSSEC, and the name server is trusted to follow the
// delegations. Where the system does not name its servers in a resolv.conf, or asks other sources than files and DNS, the
// system's own resolver is asked; it tells no time to live, and each answer of its counts for Config.MinTTL.
package dns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// Config says how names are looked up. The zero Config asks the system's name servers.
type Config struct {
	// Servers are asked in place of the system's, in this order. The hosts file goes before them.
	Servers []netip.AddrPort

	// Timeout is for one look-up with all its queries. Waiting for its turn is not in it. Default: 10 s.
	Timeout time.Duration

	// MinTTL is how long each answer holds at least. Default: 5 min; None: as long as it says.
	MinTTL time.Duration

	// IPv6 says whether IPv6 addresses are of use. Where they are not, they are asked for only if a name has no others.
	// Nil: they are.
	IPv6 func() bool
}

// None, in a field of Config, is an explicit zero.
const None = -1

const (
	maxTTL      = 24 * time.Hour
	maxNegative = time.Hour        // for "no such name" and "no addresses" (RFC 2308, section 5, advises one to three hours)
	failureTTL  = time.Second      // for servers that failed: the least of RFC 9520, section 3.2, since a retry waits by itself
	staleFor    = 24 * time.Hour   // beyond its end, an answer may stand in for none (RFC 8767, section 5)
	staleTTL    = 30 * time.Second // until the servers are tried again then (RFC 8767, section 4)

	// maxInFlight is how many look-ups go on at once; further ones wait for their turn. Each takes two sockets at most.
	maxInFlight = 256
)

// Answer is what a host has.
type Answer struct {
	Addrs []netip.Addr // at least one, IPv4 first; shared: not to be written to
	TTL   time.Duration
	Stale bool // its time is over, and no server can be had
}

// Resolver looks names up. It is safe for use by many goroutines.
type Resolver struct {
	cfg     Config // not written after New, as all up to mu
	system  *system
	servers *servers
	builtin func(ctx context.Context, host string) ([]netip.Addr, error) // the system's own
	turn    chan struct{}                                                // has room for each look-up under way

	mu    sync.Mutex // guards all below
	cache cache
	calls map[string]*call
}

// New returns a resolver.
func New(cfg Config) *Resolver {
	if cfg.Timeout == 0 {
		cfg.Timeout = 10 * time.Second
	}
	switch cfg.MinTTL {
	case 0:
		cfg.MinTTL = 5 * time.Minute
	case None:
		cfg.MinTTL = 0
	}
	if cfg.IPv6 == nil {
		cfg.IPv6 = func() bool { return true }
	}
	return &Resolver{
		cfg:     cfg,
		system:  newSystem(cfg.Servers),
		servers: newServers(),
		builtin: lookUpBuiltin,
		turn:    make(chan struct{}, maxInFlight),
		cache:   newCache(),
		calls:   make(map[string]*call),
	}
}

// call is a look-up under way. Whoever waits for it holds it; the last one to give up ends it.
type call struct {
	done    chan struct{} // closed when answer and err stand
	end     context.CancelFunc
	waiting int // guarded by Resolver.mu

	answer Answer
	err    error
}

// Lookup returns the addresses of host, a name in its ASCII form. It fails with a *net.DNSError, or with ctx's error.
func (r *Resolver) Lookup(ctx context.Context, host string) (Answer, error) {
	name := strings.ToLower(host)
	if !wellFormed(name) || strings.HasSuffix(strings.TrimSuffix(name, "."), ".onion") { // RFC 7686, section 2
		return Answer{}, notFound(host, "no such name")
	}
	sys := r.system.now()
	if addrs := sys.hosts[strings.TrimSuffix(name, ".")]; len(addrs) > 0 {
		return Answer{Addrs: addrs, TTL: max(r.cfg.MinTTL, hostsTTL)}, nil
	}
	r.mu.Lock()
	if e := r.cache.get(name, time.Now()); e != nil {
		defer r.mu.Unlock()
		return e.answer(host, time.Now())
	}
	c := r.calls[name]
	if c == nil {
		c = r.begin(name, sys)
	}
	c.waiting++
	r.mu.Unlock()
	select {
	case <-c.done:
		return c.answer, c.err
	case <-ctx.Done():
		r.leave(name, c)
		return Answer{}, ctx.Err()
	}
}

// Doubt says that no address of host could be connected to. What is remembered of it beyond its own time to live, by
// Config.MinTTL or as stale, is then forgotten.
func (r *Resolver) Doubt(host string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cache.doubt(strings.ToLower(host))
}

// begin starts the look-up of a name that nobody asks for yet.
func (r *Resolver) begin(name string, sys *config) *call {
	ctx, end := context.WithCancel(context.Background())
	c := &call{done: make(chan struct{}), end: end}
	r.calls[name] = c
	go func() {
		defer end()
		found, err := r.inTurn(ctx, name, sys)
		r.mu.Lock()
		defer r.mu.Unlock()
		defer close(c.done)
		if r.calls[name] == c {
			delete(r.calls, name)
		}
		if ctx.Err() != nil {
			c.err = ctx.Err() // nobody hears it
			return
		}
		e := r.cache.put(name, found, err, r.cfg.MinTTL, time.Now())
		c.answer, c.err = e.answer(name, time.Now())
	}()
	return c
}

// leave gives up waiting for c. The last one to do so ends it, and waits for that.
func (r *Resolver) leave(name string, c *call) {
	r.mu.Lock()
	c.waiting--
	last := c.waiting == 0
	if last && r.calls[name] == c {
		delete(r.calls, name)
	}
	r.mu.Unlock()
	if last {
		c.end()
		<-c.done
	}
}

// inTurn looks a name up when there is room for one more.
func (r *Resolver) inTurn(ctx context.Context, name string, sys *config) (found, error) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return found{}, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
	defer cancel()
	if !sys.own {
		return r.askBuiltin(ctx, name)
	}
	return r.search(ctx, name, sys)
}

// askBuiltin asks the system's own resolver.
func (r *Resolver) askBuiltin(ctx context.Context, name string) (found, error) {
	addrs, err := r.builtin(ctx, name)
	dnsErr, isDNS := errors.AsType[*net.DNSError](err)
	switch {
	case isDNS && dnsErr.IsNotFound:
		return found{noName: true}, nil
	case err != nil:
		return found{}, err
	}
	var f found
	for _, a := range addrs {
		f.addrs = append(f.addrs, a.Unmap())
	}
	return f, nil
}

// search looks a name up as it stands and, where that is of use, with the search list's domains behind it.
func (r *Resolver) search(ctx context.Context, name string, sys *config) (found, error) {
	var least found
	var failure error
	for i, candidate := range sys.candidates(name) {
		f, err := r.families(ctx, candidate, sys)
		switch {
		case err != nil:
			if failure == nil {
				failure = err
			}
		case len(f.addrs) > 0:
			return f, nil
		case i == 0:
			least = f
		default:
			least = found{noName: least.noName && f.noName, ttl: min(least.ttl, f.ttl)}
		}
		if ctx.Err() != nil {
			break
		}
	}
	if failure != nil {
		return found{}, failure
	}
	return least, nil
}

// wellFormed reports whether a name can be asked for: labels of 1 to 63 bytes, 253 in all (RFC 1035, section 2.3.4).
func wellFormed(name string) bool {
	name = strings.TrimSuffix(name, ".")
	if name == "" || len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
	}
	return true
}

func notFound(host, why string) error {
	return &net.DNSError{Err: why, Name: host, IsNotFound: true}
}

// failed is the error of servers of which none gave an answer.
func failed(name string, err error) error {
	if dnsErr, ok := errors.AsType[*net.DNSError](err); ok {
		return dnsErr
	}
	e, isNet := errors.AsType[net.Error](err)
	if errors.Is(err, context.DeadlineExceeded) || isNet && e.Timeout() {
		return &net.DNSError{Err: "no answer from the name servers", Name: name, IsTimeout: true, IsTemporary: true, UnwrapErr: err}
	}
	return &net.DNSError{Err: fmt.Sprintf("the name servers failed: %v", err), Name: name, IsTemporary: true, UnwrapErr: err}
}
