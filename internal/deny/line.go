package deny

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"crawl/canon"
)

// Key names a page: URLs of one key are one page.
type Key func(canon.URL) string

// What is wrong with a line.
var (
	errWords   = errors.New("more than one word, and the first is no address of a hosts file")
	errMapping = errors.New("a hosts file that leads a name to an address; want 0.0.0.0 or 127.0.0.1 before names to deny")
	errName    = errors.New("no host name")
	errNetwork = errors.New("no network: want ADDRESS/BITS, as 192.0.2.0/24")
	errPort    = errors.New("no port from 1 to 65535")
	errZone    = errors.New("an address with a zone means something on one machine only")
)

// maxName is the longest name in DNS as text (RFC 1035, section 2.3.4).
const maxName = 253

// Line takes the entries of one line of a list to take: none of a blank line or a comment, several of a line of a hosts
// file. The error says why it is no line of a list.
func Line(text []byte, key Key, take func(Entry) error) error {
	text = content(text)
	if len(text) == 0 {
		return nil
	}
	if plainDomain(text) {
		return take(Entry{Domain, string(text)})
	}
	words := strings.Fields(string(text))
	if len(words) > 1 {
		return hostsLine(words, take)
	}
	return entry(words[0], key, take)
}

// content cuts off blanks and a comment: # or ; at the beginning or after a blank. In a URL both mean something else.
func content(text []byte) []byte {
	for i, c := range text {
		if (c == '#' || c == ';') && (i == 0 || text[i-1] == ' ' || text[i-1] == '\t') {
			text = text[:i]
			break
		}
	}
	return bytes.TrimSpace(text)
}

// plainDomain reports whether a text is a name in its canonical spelling already, as nearly all of a long list are: lower
// case, no label of another script, and no number at its end.
func plainDomain(text []byte) bool {
	if len(text) > maxName {
		return false
	}
	label := 0 // where it starts
	for i, c := range text {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_':
		case c == '-':
			if i-label == 3 && text[i-1] == '-' { // xn-- and what may become such
				return false
			}
		case c == '.':
			if i == label {
				return false
			}
			label = i + 1
		default:
			return false
		}
	}
	last := text[label:]
	return len(last) > 0 && !isDigit(last[0]) // a number at the end makes an address of it
}

// hostsLine reads a line of a hosts file. The names that such a file has for the machine itself are passed over.
func hostsLine(words []string, take func(Entry) error) error {
	address, _, _ := strings.Cut(words[0], "%")
	sink, err := netip.ParseAddr(address)
	if err != nil {
		return errWords
	}
	names := words[1:]
	sinks := sink.IsUnspecified() || sink.IsLoopback()
	for _, word := range names {
		if isOwnName(word) {
			continue
		}
		if !sinks {
			return errMapping
		}
		name, err := hostName(word)
		if err != nil {
			return err
		}
		e := Entry{Host, "=" + name}
		if addr, err := netip.ParseAddr(name); err == nil {
			e = Entry{Address, plain(addr).String()}
		}
		if err := take(e); err != nil {
			return err
		}
	}
	return nil
}

// isOwnName knows the names by which hosts files call their own machine and its network.
func isOwnName(name string) bool {
	switch name = strings.ToLower(name); name {
	case "localhost", "localhost.localdomain", "localhost4", "localhost4.localdomain4", "localhost6", "localhost6.localdomain6",
		"local", "broadcasthost", "0.0.0.0":
		return true
	}
	return strings.HasPrefix(name, "ip6-")
}

// entry reads a line of one word.
func entry(word string, key Key, take func(Entry) error) error {
	if strings.Contains(word, "://") {
		return page(word, key, take)
	}
	if network, err := netip.ParsePrefix(word); err == nil {
		if network.Addr().Is4In6() && network.Bits() < 96 { // addresses are looked up in their IPv4 form, of which it has none
			return errNetwork
		}
		return take(networkEntry(network))
	}
	if addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(word, "["), "]")); err == nil {
		if addr.Zone() != "" {
			return errZone
		}
		return take(Entry{Address, plain(addr).String()})
	}
	if host, path, found := strings.Cut(word, "/"); found {
		return withoutScheme(host, path, key, take)
	}
	if host, ok := strings.CutPrefix(word, "="); ok {
		return named(Host, "=", host, take)
	}
	if i := strings.LastIndexByte(word, ':'); i >= 0 {
		return place(word[:i], word[i+1:], take)
	}
	if below, ok := strings.CutPrefix(word, "*."); ok {
		word = below
	}
	return named(Domain, "", strings.TrimPrefix(word, "."), take)
}

// named takes an entry of a name. One that canon reads as an address is one: 0x7f.1 is 127.0.0.1 to a browser.
func named(kind Kind, mark, host string, take func(Entry) error) error {
	name, err := hostName(host)
	if err != nil {
		return err
	}
	if addr, err := netip.ParseAddr(name); err == nil {
		return take(Entry{Address, plain(addr).String()})
	}
	return take(Entry{kind, mark + name})
}

// hostName returns the host of a URL in the spelling that a URL has it in: lower case, other scripts as xn--, no dot at
// the end.
func hostName(text string) (string, error) {
	if text == "" || strings.ContainsAny(text, `/\?#@:*`) && !strings.HasPrefix(text, "[") {
		return "", errName
	}
	u, err := canon.Parse("http://" + text + "/")
	if err != nil {
		return "", errName
	}
	name := strings.TrimSuffix(u.Hostname(), ".")
	switch _, err := netip.ParseAddr(name); {
	case err == nil:
		return name, nil
	case len(name) > maxName, u.Target() != "/", slices.Contains(strings.Split(name, "."), ""), strings.ContainsFunc(name, isOdd):
		return "", errName
	}
	return name, nil
}

// isOdd reports whether a character is in no name that can be looked up, although a URL's host may have it.
func isOdd(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
}

func networkEntry(p netip.Prefix) Entry {
	addr, bits := p.Addr(), p.Bits()
	if addr.Is4In6() && bits >= 96 {
		addr, bits = addr.Unmap(), bits-96
	}
	if bits == addr.BitLen() {
		return Entry{Address, addr.String()}
	}
	return Entry{Network, netip.PrefixFrom(addr, bits).Masked().String()}
}

func page(text string, key Key, take func(Entry) error) error {
	u, err := canon.Parse(text)
	if err != nil {
		if e, ok := errors.AsType[*canon.Error](err); ok {
			return fmt.Errorf("no URL: %s", e.Reason)
		}
		return err
	}
	return take(Entry{Page, key(u)})
}

// withoutScheme takes a host and a path for the page under http and under https.
func withoutScheme(host, path string, key Key, take func(Entry) error) error {
	if _, err := netip.ParseAddr(host); err == nil && strings.Trim(path, "0123456789") == "" {
		return errNetwork
	}
	if host == "" {
		return errName
	}
	for _, scheme := range []string{"http://", "https://"} {
		if err := page(scheme+host+"/"+path, key, take); err != nil {
			return err
		}
	}
	return nil
}

func place(host, port string, take func(Entry) error) error {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return errPort
	}
	name, err := hostName(host)
	if err != nil {
		return err
	}
	return take(Entry{Place, placeOf(name, strconv.FormatUint(n, 10))})
}
