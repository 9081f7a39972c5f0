package dns

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// found is what the servers know of a name: addresses, or that there are none.
type found struct {
	addrs  []netip.Addr
	noName bool          // there is no such name; otherwise it has no addresses
	ttl    time.Duration // of addrs, or of their lack
}

// otherFamilyWait is how long the addresses of one family wait for those of the other. Some servers never answer for
// IPv6 (RFC 4074, section 4.1).
const otherFamilyWait = 500 * time.Millisecond

// families asks for the addresses of both families: at once, or for IPv6 only where there are no others.
func (r *Resolver) families(ctx context.Context, name string, sys *config) (found, error) {
	if !r.cfg.IPv6() {
		four, err := r.query(ctx, name, dnsmessage.TypeA, sys)
		if err != nil || four.noName || len(four.addrs) > 0 {
			return four, err
		}
		six, err := r.query(ctx, name, dnsmessage.TypeAAAA, sys)
		return join(part{four, nil}, part{six, err})
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := [2]chan part{make(chan part, 1), make(chan part, 1)}
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	for i, kind := range [2]dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA} {
		asking.Go(func() {
			f, err := r.query(ctx, name, kind, sys)
			ended[i] <- part{f, err}
		})
	}
	return join(awaitFamilies(ended))
}

// part is what came of one family.
type part struct {
	found
	err error
}

var errSlow = errors.New("the other family came first")

// awaitFamilies waits for the answers of both. A name that does not exist has neither; but only for IPv4 is that believed
// at once, since some servers say it of IPv6 alone (RFC 4074, section 4.2).
func awaitFamilies(ended [2]chan part) (four, six part) {
	four.err, six.err = errSlow, errSlow
	var late <-chan time.Time
	for left := 2; left > 0; left-- {
		var got part
		select {
		case four = <-ended[0]:
			if got = four; four.err == nil && four.noName {
				return four, six
			}
		case six = <-ended[1]:
			got = six
		case <-late:
			return four, six
		}
		if len(got.addrs) > 0 {
			timer := time.NewTimer(otherFamilyWait)
			defer timer.Stop()
			late = timer.C
		}
	}
	return four, six
}

// join makes one of two. Addresses of one family are enough, but while the other is not known they hold no longer than
// need be.
func join(four, six part) (found, error) {
	have4, have6 := len(four.addrs) > 0, len(six.addrs) > 0
	switch {
	case have4 && have6:
		return found{addrs: slices.Concat(four.addrs, six.addrs), ttl: min(four.ttl, six.ttl)}, nil
	case have4 || have6:
		one, other := four, six
		if have6 {
			one, other = six, four
		}
		if other.err != nil {
			one.ttl = 0
		}
		return one.found, nil
	case four.err == nil && four.noName:
		return four.found, nil
	case four.err != nil:
		return found{}, four.err
	case six.err != nil:
		return found{}, six.err
	}
	return found{ttl: min(four.ttl, six.ttl)}, nil
}

// query returns the addresses of name that kind stands for. Aliases that a server does not follow itself are asked for.
func (r *Resolver) query(ctx context.Context, name string, kind dnsmessage.Type, sys *config) (found, error) {
	ttl := time.Duration(maxTTL)
	next := name
	for aliases := 0; aliases <= maxAliases; {
		q, err := question(next, kind)
		if err != nil {
			return found{noName: true, ttl: ttl}, nil // an alias for no name that can be
		}
		got, err := r.askServers(ctx, q, sys)
		if err != nil {
			return found{}, failed(name, err)
		}
		ttl = min(ttl, got.ttl)
		noName := got.rcode == dnsmessage.RCodeNameError
		switch {
		case len(got.addrs) > 0:
			return found{addrs: got.addrs, ttl: ttl}, nil
		case got.aliases == 0 || noName || got.hasSOA: // it speaks of the last name (RFC 2308, section 2.1)
			return found{noName: noName, ttl: min(ttl, got.negative)}, nil
		}
		next = got.last
		aliases += got.aliases
	}
	return found{}, failed(name, errLoop)
}

func question(name string, kind dnsmessage.Type) (dnsmessage.Question, error) {
	if !wellFormed(name) {
		return dnsmessage.Question{}, errors.New("no name")
	}
	if name[len(name)-1] != '.' {
		name += "."
	}
	n, err := dnsmessage.NewName(name)
	return dnsmessage.Question{Name: n, Type: kind, Class: dnsmessage.ClassINET}, err
}

// askServers asks one server after the other, all of them again where none answered, for longer then.
func (r *Resolver) askServers(ctx context.Context, q dnsmessage.Question, sys *config) (reply, error) {
	failure := error(context.DeadlineExceeded)
	for round := range sys.attempts {
		for _, server := range r.servers.inOrder(sys, time.Now()) {
			got, err := r.askServer(ctx, server, q, sys.wait(round), sys.tcp)
			if err == nil {
				return got, nil
			}
			if ctx.Err() != nil {
				if isAnswer(failure) {
					return reply{}, failure
				}
				return reply{}, ctx.Err()
			}
			if !isAnswer(failure) {
				failure = err
			}
			r.servers.failed(server, err, time.Now())
			if errors.Is(err, errLoop) {
				return reply{}, err // a fault of the zone's, not of the server's
			}
		}
	}
	return reply{}, failure
}

// askServer returns what one server answered. A code that says nothing of the name is an *answerError.
func (r *Resolver) askServer(ctx context.Context, server netip.AddrPort, q dnsmessage.Question, wait time.Duration, tcp bool) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	got, err := ask(ctx, server, q, tcp)
	switch {
	case err != nil && ctx.Err() != nil:
		return reply{}, ctx.Err()
	case err != nil:
		return reply{}, err
	case got.lame:
		return reply{}, &answerError{server, "does not know, and does not ask others"}
	case got.rcode != dnsmessage.RCodeSuccess && got.rcode != dnsmessage.RCodeNameError:
		return reply{}, &answerError{server, codeText(got.rcode)}
	}
	r.servers.answered(server)
	return got, nil
}

// answerError is an answer of a server that it can not, or will not, tell.
type answerError struct {
	server netip.AddrPort
	text   string
}

func (e *answerError) Error() string { return fmt.Sprintf("%v: %s", e.server, e.text) }

func isAnswer(err error) bool {
	_, ok := errors.AsType[*answerError](err)
	return ok || errors.Is(err, errLoop)
}

// codeText names the codes as dig does.
func codeText(code dnsmessage.RCode) string {
	switch code {
	case dnsmessage.RCodeFormatError:
		return "FORMERR"
	case dnsmessage.RCodeServerFailure:
		return "SERVFAIL"
	case dnsmessage.RCodeNotImplemented:
		return "NOTIMP"
	case dnsmessage.RCodeRefused:
		return "REFUSED"
	}
	return fmt.Sprintf("code %d", uint16(code))
}

// illFor is how long a server that did not answer is asked after the others.
const illFor = 30 * time.Second

// servers remembers which name servers did not answer lately.
type servers struct {
	start atomic.Uint32 // for rotation

	mu  sync.Mutex // guards ill
	ill map[netip.AddrPort]time.Time
}

func newServers() *servers { return &servers{ill: make(map[netip.AddrPort]time.Time)} }

// inOrder returns the servers, those that did not answer lately last.
func (s *servers) inOrder(sys *config, now time.Time) []netip.AddrPort {
	order := slices.Clone(sys.servers)
	if sys.rotate && len(order) > 1 {
		n := int(s.start.Add(1)) % len(order)
		order = slices.Concat(order[n:], order[:n])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ill) == 0 {
		return order
	}
	slices.SortStableFunc(order, func(a, b netip.AddrPort) int {
		illA, illB := now.Before(s.ill[a]), now.Before(s.ill[b])
		switch {
		case illA == illB:
			return 0
		case illB:
			return -1
		}
		return 1
	})
	return order
}

// failed notes a server that did not answer. One that could not say something of one name may know the next, and that this
// machine has no file left is no fault of the server's.
func (s *servers) failed(server netip.AddrPort, err error, now time.Time) {
	if isAnswer(err) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.ill, func(_ netip.AddrPort, until time.Time) bool { return !now.Before(until) })
	s.ill[server] = now.Add(illFor)
}

func (s *servers) answered(server netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ill, server)
}
