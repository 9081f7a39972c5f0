package deny_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"crawl/canon"
	"crawl/internal/deny"
)

func key(u canon.URL) string { return u.Key() }

// A line of a list, in any of the ways in which lists are written, is the entry that its author means, or none.
func TestLine(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		want       []string // kind and canonical text
	}{
		{"a blank line", " \t", nil},
		{"a comment", "# ads", nil},
		{"a comment of DROP lists", "; 2026", nil},
		{"a domain", "ads.example", []string{"domain ads.example"}},
		{"with a comment", "ads.example   # spam", []string{"domain ads.example"}},
		{"upper case", "Ads.EXAMPLE", []string{"domain ads.example"}},
		{"a dot at the end", "ads.example.", []string{"domain ads.example"}},
		{"a dot before", ".ads.example", []string{"domain ads.example"}},
		{"a star before", "*.ads.example", []string{"domain ads.example"}},
		{"a name of another script", "bücher.example", []string{"domain xn--bcher-kva.example"}},
		{"the same in upper case", "BÜCHER.example", []string{"domain xn--bcher-kva.example"}},
		{"the same as ASCII", "XN--BCHER-KVA.example", []string{"domain xn--bcher-kva.example"}},
		{"a wide dot", "ads。example", []string{"domain ads.example"}},
		{"an underscore", "_dmarc.ads.example", []string{"domain _dmarc.ads.example"}},
		{"one label", "onion", []string{"domain onion"}},
		{"a host alone", "=www.Ads.example", []string{"host =www.ads.example"}},
		{"a hosts file", "0.0.0.0 ads.example", []string{"host =ads.example"}},
		{"several names of it", "127.0.0.1\tads.example  Track.example. # two", []string{"host =ads.example", "host =track.example"}},
		{"a hosts file of IPv6", ":: ads.example", []string{"host =ads.example"}},
		{"its own machine", "127.0.0.1 localhost localhost.localdomain", nil},
		{"its own network", "fe80::1%lo0 localhost", nil},
		{"its broadcast", "255.255.255.255 broadcasthost", nil},
		{"its multicast", "ff02::1 ip6-allnodes", nil},
		{"its own zero", "0.0.0.0 0.0.0.0", nil},
		{"a port", "ads.example:8080", []string{"place ads.example:8080"}},
		{"a port of an address", "[::1]:0080", []string{"place [::1]:80"}},
		{"a page", "https://Ads.example/A?b=1#c", []string{"url https://ads.example/A?b=1"}},
		{"a page in other words", "HTTP://ads.example:80/a/../b%7e", []string{"url http://ads.example/b~"}},
		{"a page with user", "https://u:p@ads.example/", []string{"url https://ads.example/"}},
		{"a page and a comment", "https://ads.example/#x # y", []string{"url https://ads.example/"}},
		{"a page without a scheme", "ads.example/x", []string{"url http://ads.example/x", "url https://ads.example/x"}},
		{"an address", "192.0.2.1", []string{"address 192.0.2.1"}},
		{"an address as browsers read it", "0xC0.0x00.0x02.0x01", []string{"address 192.0.2.1"}},
		{"an IPv6 address", "2001:DB8:0::1", []string{"address 2001:db8::1"}},
		{"in brackets", "[2001:db8::1]", []string{"address 2001:db8::1"}},
		{"IPv4 in IPv6", "::ffff:192.0.2.1", []string{"address 192.0.2.1"}},
		{"a network", "192.0.2.77/24", []string{"network 192.0.2.0/24"}},
		{"of a DROP list", "192.0.2.0/24 ; SBL1", []string{"network 192.0.2.0/24"}},
		{"of one address", "192.0.2.1/32", []string{"address 192.0.2.1"}},
		{"an IPv6 network", "2001:DB8::5/32", []string{"network 2001:db8::/32"}},
		{"an IPv6 network around all of IPv4", "::ffff:0:0/90", []string{"!"}},
		{"IPv4 networks in IPv6", "::ffff:192.0.2.0/120", []string{"network 192.0.2.0/24"}},
		{"everything", "0.0.0.0/0", []string{"network 0.0.0.0/0"}},

		{"a real hosts file", "192.0.2.1 intranet.example", []string{"!"}},
		{"two words", "ads example", []string{"!"}},
		{"markup", "<!DOCTYPE html>", []string{"!"}},
		{"a mark of another syntax", "||ads.example^", []string{"!"}},
		{"a star within", "ads*.example", []string{"!"}},
		{"a star without a dot", "*ads.example", []string{"!"}},
		{"a long network", "192.0.2.0/33", []string{"!"}},
		{"a port too high", "ads.example:65536", []string{"!"}},
		{"no port", "ads.example:", []string{"!"}},
		{"port 0", "ads.example:0", []string{"!"}},
		{"a zone", "fe80::1%eth0", []string{"!"}},
		{"an empty label", "ads..example", []string{"!"}},
		{"dots alone", "..", []string{"!"}},
		{"a star alone", "*.", []string{"!"}},
		{"another scheme", "ftp://ads.example/", []string{"!"}},
		{"no host", "https:///", []string{"!"}},
		{"a path", "/ads", []string{"!"}},
		{"a query", "?ads", []string{"!"}},
		{"NUL", "ads\x00.example", []string{"!"}},
		{"a name too long", strings.Repeat("a.", 126) + "example", []string{"!"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			err := deny.Line([]byte(tt.line), key, func(e deny.Entry) error {
				got = append(got, e.Kind.String()+" "+e.Text)
				return nil
			})
			if err != nil {
				got = []string{"!"}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q is %q (%v), want %q", tt.line, got, err, tt.want)
			}
		})
	}
}

// set holds texts, and counts how often it is asked.
type set struct {
	texts map[string]uint64
	asked int
}

func (s *set) HashString(text string) uint64 { return s.texts[text] } // 0: not there

func (s *set) Has(hash uint64) (bool, error) {
	s.asked++
	return hash != 0, nil
}

func listOf(t *testing.T, text string) (deny.List, *set) {
	t.Helper()
	s := &set{texts: make(map[string]uint64)}
	sum, err := deny.Read(strings.NewReader(text), key, func(_ uint64, e deny.Entry) error {
		s.texts[e.Text] = uint64(len(s.texts) + 1)
		return nil
	})
	if err != nil || sum.Bad > 0 {
		t.Fatal(err, sum.Named)
	}
	return deny.List{Set: s, Shape: sum.Shape}, s
}

const someList = "\ufeffwide.example\r\n" + `0.0.0.0 one.example
port.example:8080
https://page.example/x
192.0.2.1
198.51.100.0/24
2001:db8::/32
deep.below.example`

// What an entry refuses is what its kind says: a set of which nothing is known finds the same.
func TestMatch(t *testing.T) {
	list, s := listOf(t, someList)
	for _, tt := range []struct{ url, want string }{
		{"https://wide.example/", "wide.example"},
		{"http://a.b.WIDE.example:9999/x", "wide.example"},
		{"http://wide.example./", "wide.example"},
		{"http://notwide.example/", ""},
		{"http://example/", ""},
		{"http://one.example/x", "=one.example"},
		{"http://one.example:81/x", "=one.example"},
		{"http://one.example./x", "=one.example"},
		{"http://www.one.example/", ""},
		{"http://port.example:8080/", "port.example:8080"},
		{"http://port.example/", ""},
		{"http://www.port.example:8080/", ""},
		{"https://page.example/x", "https://page.example/x"},
		{"https://page.example/x#y", "https://page.example/x"},
		{"https://page.example/x?", "https://page.example/x"},
		{"https://page.example/x/y", ""},
		{"http://page.example/x", ""},
		{"http://192.0.2.1/", "192.0.2.1"},
		{"http://3221225985:8080/", "192.0.2.1"},
		{"http://192.0.2.2/", ""},
		{"http://198.51.100.200/", "198.51.100.0/24"},
		{"http://198.51.101.1/", ""},
		{"http://[2001:db8:1::2]/", "2001:db8::/32"},
		{"http://[::ffff:198.51.100.1]/", "198.51.100.0/24"},
		{"http://[64:ff9b::c000:201]/", "192.0.2.1"},
		{"http://[2002:c000:201::]/", "192.0.2.1"},
		{"http://[2001:db9::2]/", ""},
		{"http://x.deep.below.example/", "deep.below.example"},
		{"http://below.example/", ""},
	} {
		t.Run(tt.url, func(t *testing.T) {
			u, err := canon.Parse(tt.url)
			if err != nil {
				t.Fatal(err)
			}
			for name, l := range map[string]deny.List{"with its shape": list, "with any shape": {Set: s, Shape: deny.AnyShape()}} {
				e, found, err := l.Site(deny.SiteOf(u))
				if !found && err == nil {
					e, found, err = l.Page(u.Key(), u.String())
				}
				if err != nil || found != (tt.want != "") || e.Text != tt.want {
					t.Errorf("%s: %q, %v, %v, want %q", name, e.Text, found, err, tt.want)
				}
			}
		})
	}
}

// What cannot be in a list is not looked up.
func TestLookups(t *testing.T) {
	for _, tt := range []struct {
		list, url string
		want      int
	}{
		{"a.example\nb.example", "https://www.c.example/x", 1},
		{"a.example\nb.c.example", "https://www.c.example/x", 2},
		{"a.example", "https://example/", 0},
		{"0.0.0.0 a.example", "https://www.c.example/x", 1},
		{"https://a.example/", "https://www.c.example/x", 1},
		{"192.0.2.1", "https://www.c.example/x", 0},
		{"192.0.2.0/24\n192.0.0.0/16", "https://198.51.100.1/x", 2},
	} {
		list, s := listOf(t, tt.list)
		u, _ := canon.Parse(tt.url)
		_, _, _ = list.Site(deny.SiteOf(u))
		_, _, _ = list.Page(u.Key())
		if s.asked != tt.want {
			t.Errorf("%s in %q: %d look-ups, want %d", tt.url, tt.list, s.asked, tt.want)
		}
	}
}

// Addresses that names lead to are refused as those in URLs.
func TestAddr(t *testing.T) {
	list, _ := listOf(t, someList)
	for addr, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "192.0.2.3": "", "198.51.100.9": "198.51.100.0/24",
		"2001:db8::9": "2001:db8::/32", "fe80::1%eth0": "",
	} {
		e, found, err := list.Addr(netip.MustParseAddr(addr))
		if err != nil || found != (want != "") || e.Text != want {
			t.Errorf("%s: %q, %v, %v, want %q", addr, e.Text, found, err, want)
		}
	}
}

// A line that is none of a list costs that line; a text that is no list is refused, and says by which line.
func TestReadJudges(t *testing.T) {
	good := strings.Repeat("a.example\n", 20)
	for _, tt := range []struct {
		name, text string
		bad        uint64
		list       bool
	}{
		{"empty", "", 0, true},
		{"without an end of line", "a.example", 0, true},
		{"one bad line of many", good + "<br>\n", 1, true},
		{"a page", "<!DOCTYPE html>\n<title>404 not found</title>\n<p>There is no such list.\n", 3, false},
		{"another syntax", "||a.example^\n", 1, false},
		{"a long line", good + strings.Repeat("a", 100_000) + "\nb.example\n", 1, true},
		{"a long comment", "#" + strings.Repeat("a", 100_000) + "\nb.example\n", 0, true},
		{"a page behind many lines", strings.Repeat("a.example\n", 2000) + strings.Repeat("<br>\n", 1000), 1000, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sum, err := deny.Read(strings.NewReader(tt.text), key, func(uint64, deny.Entry) error { return nil })
			if sum.Bad != tt.bad || errors.Is(err, deny.ErrNoList) == tt.list {
				t.Errorf("%d bad lines, %v", sum.Bad, err)
			}
			if !tt.list && !strings.Contains(fmt.Sprint(err), "line ") {
				t.Errorf("%v names no line", err)
			}
		})
	}
}

func TestFind(t *testing.T) {
	for text, want := range map[string]uint64{"wide.example": 1, "=one.example": 2, "192.0.2.1": 5, "none.example": 0} {
		kind := deny.Domain
		switch text[0] {
		case '=':
			kind = deny.Host
		case '1':
			kind = deny.Address
		}
		if line, err := deny.Find(strings.NewReader(someList), key, deny.Entry{Kind: kind, Text: text}); line != want || err != nil {
			t.Errorf("%s: line %d, %v, want %d", text, line, err, want)
		}
	}
}

// An entry that a line makes refuses what it stands for, is made of its own text again, and no line makes Line panic.
func FuzzLine(f *testing.F) {
	for _, line := range strings.Split(someList+"\nbücher.example\nads.example/x\n[::1]:80\n=a\n0x7f.1", "\n") {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		_ = deny.Line([]byte(line), key, func(e deny.Entry) error {
			var again []deny.Entry
			err := deny.Line([]byte(e.Text), key, func(e deny.Entry) error {
				again = append(again, e)
				return nil
			})
			if err != nil || len(again) != 1 || again[0] != e {
				t.Errorf("%q is %v, whose text is %v, %v", line, e, again, err)
			}
			return nil
		})
	})
}
