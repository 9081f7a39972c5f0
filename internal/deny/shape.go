package deny

import (
	"net/netip"
	"strings"
)

// Shape says what kinds of entries a list has, so that nothing is looked up that cannot be there. The zero Shape has none.
type Shape struct {
	Hosts     bool      `json:"hosts,omitempty"`
	Places    bool      `json:"places,omitempty"`
	Pages     bool      `json:"pages,omitempty"`
	Addresses bool      `json:"addresses,omitempty"`
	Labels    uint64    `json:"labels,omitempty"`    // bit n: a domain of n labels; bit 63: of as many and more
	Networks4 uint64    `json:"networks4,omitempty"` // bit n: a network of n bits
	Networks6 [2]uint64 `json:"networks6,omitzero"`  // likewise
	Entries   [6]uint64 `json:"entries"`             // by kind; repeated ones count each time
}

// AnyShape is that of a set of which nothing is known.
func AnyShape() Shape {
	const all = ^uint64(0)
	return Shape{Hosts: true, Places: true, Pages: true, Addresses: true, Labels: all, Networks4: all, Networks6: [2]uint64{all, all}}
}

// Add takes in an entry.
func (s *Shape) Add(e Entry) {
	s.Entries[e.Kind]++
	switch e.Kind {
	case Domain:
		s.Labels |= labelBit(strings.Count(e.Text, ".") + 1)
	case Host:
		s.Hosts = true
	case Place:
		s.Places = true
	case Page:
		s.Pages = true
	case Address:
		s.Addresses = true
	case Network:
		if p, err := netip.ParsePrefix(e.Text); err == nil { // as Reader spells it
			word, bit := s.network(p.Addr(), p.Bits())
			*word |= bit
		}
	}
}

// Sum is the number of entries.
func (s *Shape) Sum() uint64 {
	var sum uint64
	for _, n := range s.Entries {
		sum += n
	}
	return sum
}

// AnyAddress reports whether there can be addresses or networks.
func (s *Shape) AnyAddress() bool {
	return s.Addresses || s.Networks4|s.Networks6[0]|s.Networks6[1] != 0
}

func labelBit(labels int) uint64 { return 1 << min(labels, 63) }

func (s *Shape) hasDomain(labels int) bool { return s.Labels&labelBit(labels) != 0 }

func (s *Shape) hasNetwork(a netip.Addr, bits int) bool {
	word, bit := s.network(a, bits)
	return *word&bit != 0
}

func (s *Shape) network(a netip.Addr, bits int) (word *uint64, bit uint64) {
	if a.Is4() {
		return &s.Networks4, 1 << bits
	}
	return &s.Networks6[bits/64], 1 << (bits % 64)
}
