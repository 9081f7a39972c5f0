// Package deny reads denylists, and says which entry of one refuses a URL or an address.
//
// A list is text, an entry a line, or a set of such entries that can be asked whether it holds one. Each kind of entry has
// one canonical spelling, which is what a set holds and what is looked up in it:
//
//	Domain   a.example             the name and every name below it, on every port
//	Host     =a.example            that name alone, on every port
//	Place    a.example:8080        that name alone, on that port
//	URL      https://a.example/x   the one page, by its key
//	Address  192.0.2.1             the address, as a URL has it or as a name leads to it
//	Network  192.0.2.0/24          every address in it
//
// What is looked up is made from the URL, so the cost of a check does not follow the length of the list: a look-up for
// each domain that a host is in, one for the page, one for each length that a network of the list has. Shape tells which
// of them can be spared. The price is that an entry is found only in its canonical spelling: Reader makes it of whatever a
// list has.
package deny

import (
	"net/netip"
	"strings"

	"crawl/canon"
)

// Kind is what an entry stands for.
type Kind uint8

// The kinds.
const (
	Domain Kind = iota
	Host
	Place
	Page // a URL
	Address
	Network
	kinds // their number
)

var kindNames = [kinds]string{"domain", "host", "place", "url", "address", "network"}

func (k Kind) String() string { return kindNames[k] }

// Entry is an entry of a list.
type Entry struct {
	Kind Kind
	Text string // canonical
}

// Set is what holds the entries of a list, by the hashes of their texts. An error is the disk's: then nobody knows.
type Set interface {
	HashString(text string) uint64
	Has(hash uint64) (bool, error)
}

// List is a denylist that can be asked. It is safe for concurrent use if its Set is.
type List struct {
	Set   Set
	Shape Shape
}

// Site is what of a URL its entries of hosts and addresses look at.
type Site struct {
	name string // without a dot at its end
	port string
	addr netip.Addr // not valid: the name is one
}

// SiteOf returns where a URL leads.
func SiteOf(u canon.URL) Site {
	s := Site{name: strings.TrimRight(u.Hostname(), "."), port: u.Port()}
	if last := len(s.name) - 1; last >= 0 && (isDigit(s.name[last]) || strings.Contains(s.name, ":")) {
		if addr, err := netip.ParseAddr(s.name); err == nil {
			s.addr = addr
		}
	}
	return s
}

// Site looks for an entry that refuses all URLs of a site.
func (l *List) Site(s Site) (Entry, bool, error) {
	if s.addr.IsValid() {
		if e, found, err := l.Addr(s.addr); found || err != nil {
			return e, found, err
		}
	} else if e, found, err := l.domain(s.name); found || err != nil {
		return e, found, err
	}
	if l.Shape.Hosts && !s.addr.IsValid() {
		if e, found, err := l.has(Host, "="+s.name); found || err != nil {
			return e, found, err
		}
	}
	if l.Shape.Places {
		return l.has(Place, placeOf(s.name, s.port))
	}
	return Entry{}, false, nil
}

// domain looks the name up with all that it is below, the widest first.
func (l *List) domain(name string) (Entry, bool, error) {
	for at, labels := len(name), 1; at > 0; labels++ {
		at = strings.LastIndexByte(name[:at], '.')
		if !l.Shape.hasDomain(labels) {
			continue
		}
		if e, found, err := l.has(Domain, name[at+1:]); found || err != nil {
			return e, found, err
		}
	}
	return Entry{}, false, nil
}

// Page looks for an entry of one page. keys are the texts that may stand for it.
func (l *List) Page(keys ...string) (Entry, bool, error) {
	if !l.Shape.Pages {
		return Entry{}, false, nil
	}
	for i, key := range keys {
		if i > 0 && key == keys[i-1] {
			continue
		}
		if e, found, err := l.has(Page, key); found || err != nil {
			return e, found, err
		}
	}
	return Entry{}, false, nil
}

// Addr looks for an entry that refuses an address, or the IPv4 address that it embeds.
func (l *List) Addr(a netip.Addr) (Entry, bool, error) {
	if !l.Shape.AnyAddress() {
		return Entry{}, false, nil
	}
	a = plain(a)
	if e, found, err := l.addr(a); found || err != nil {
		return e, found, err
	}
	if inner, embeds := embedded(a); embeds {
		return l.addr(inner)
	}
	return Entry{}, false, nil
}

func (l *List) addr(a netip.Addr) (Entry, bool, error) {
	if l.Shape.Addresses {
		if e, found, err := l.has(Address, a.String()); found || err != nil {
			return e, found, err
		}
	}
	for bits := range a.BitLen() {
		if !l.Shape.hasNetwork(a, bits) {
			continue
		}
		if e, found, err := l.has(Network, netip.PrefixFrom(a, bits).Masked().String()); found || err != nil {
			return e, found, err
		}
	}
	return Entry{}, false, nil
}

func (l *List) has(kind Kind, text string) (Entry, bool, error) {
	found, err := l.Set.Has(l.Set.HashString(text))
	if !found || err != nil {
		return Entry{}, false, err
	}
	return Entry{kind, text}, true, nil
}

// plain returns the one form of an address.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

var (
	nat64     = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052
	sixToFour = netip.MustParsePrefix("2002::/16")    // RFC 3056
)

// embedded returns the IPv4 address to which packets for an IPv6 address go in the end.
func embedded(a netip.Addr) (netip.Addr, bool) {
	bytes := a.As16()
	switch {
	case !a.Is6():
	case nat64.Contains(a):
		return netip.AddrFrom4([4]byte(bytes[12:16])), true
	case sixToFour.Contains(a):
		return netip.AddrFrom4([4]byte(bytes[2:6])), true
	}
	return netip.Addr{}, false
}

func placeOf(name, port string) string {
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	return name + ":" + port
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
