package fetch

import (
	"cmp"
	"container/list"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"

	"crawl/canon"
)

// Cookie is one that a host has set, or that was loaded (RFC 6265, section 5.3).
type Cookie struct {
	Name, Value string
	Domain      string // lower case, without a dot at its start
	HostOnly    bool   // for Domain alone, and not for names below it
	Path        string
	Secure      bool      // for https alone
	Expires     time.Time // zero: with the process
}

// What a jar keeps. Loaded cookies do not count: their file bounds them.
const (
	maxCookieBytes   = 4 << 10  // of a cookie's name and value (RFC 6265, section 6.1)
	maxCookiePath    = 1 << 10  // of a cookie's path
	maxSetCookies    = 50       // of one answer
	maxSiteCookies   = 50       // of a site; then the one that was set first goes
	maxSiteBytes     = 32 << 10 // of a site, likewise
	maxJarBytes      = 64 << 20 // of all sites; then the site goes that was not asked for longest
	cookieOwnBytes   = 256      // that a cookie costs beside its texts
	maxCookieDomains = 253      // characters of a name in DNS
)

// jar keeps cookies in memory, by the site that can set them for all its hosts: a registrable domain, or a host that has
// none. It is safe for concurrent use.
type jar struct {
	mu    sync.Mutex // guards all below
	sites map[string]*cookieSite
	used  list.List // of *cookieSite with cookies that were set; the last used in front
	bytes int
	set   uint64 // cookies set so far
}

// cookieSite is what one site has set.
type cookieSite struct {
	name    string
	cookies []*kept
	bytes   int           // of those that were not loaded
	count   int           // of them
	place   *list.Element // in jar.used; nil where only loaded ones are
}

// kept is a cookie in the jar.
type kept struct {
	Cookie
	order  uint64 // of setting; one that replaces another keeps its place (RFC 6265, section 5.3)
	loaded bool
}

func (k *kept) cost() int {
	return len(k.Name) + len(k.Value) + len(k.Domain) + len(k.Path) + cookieOwnBytes
}

func (k *kept) expired(now time.Time) bool { return !k.Expires.IsZero() && !k.Expires.After(now) }

func newJar(loaded []Cookie) *jar {
	j := &jar{sites: make(map[string]*cookieSite)}
	for _, c := range loaded {
		j.put(&kept{Cookie: c, loaded: true}, time.Time{}, true)
	}
	return j
}

// receive takes in the Set-Cookie fields of u's answer. some reports whether one of them is to be sent back from now on.
func (j *jar) receive(u canon.URL, fields []string, now time.Time) (some bool) {
	if len(fields) == 0 {
		return false
	}
	host, secure := bareName(u), u.Scheme() == "https"
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, field := range fields[:min(len(fields), maxSetCookies)] {
		c, ok := parseSetCookie(field, u, now)
		if !ok || !c.settableBy(host, secure) {
			continue
		}
		some = j.put(&kept{Cookie: c}, now, secure) || some
	}
	return some
}

// put adds a cookie, in the place of one with the same name, domain and path, and reports whether it is there now. One
// that has expired only removes that other one.
func (j *jar) put(k *kept, now time.Time, secure bool) bool {
	name := siteOf(k.Domain)
	s := j.sites[name]
	if s == nil {
		if k.expired(now) {
			return false
		}
		s = &cookieSite{name: strings.Clone(name)}
		j.sites[s.name] = s
	}
	if !secure && s.shadowsSecure(&k.Cookie) {
		return false
	}
	j.set++
	k.order = j.set
	for i, old := range s.cookies {
		if old.Name == k.Name && old.Domain == k.Domain && old.Path == k.Path {
			k.order = old.order
			j.remove(s, i)
			break
		}
	}
	if k.expired(now) {
		j.drop(s)
		return false
	}
	s.cookies = append(s.cookies, k)
	if k.loaded {
		return true
	}
	s.bytes += k.cost()
	s.count++
	j.bytes += k.cost()
	j.touch(s)
	j.fit(s, now)
	return true
}

// shadowsSecure reports whether a cookie that http sets would be sent in the place of, or before, one for https alone: who can
// change http may not change what https has set (draft-ietf-httpbis-rfc6265bis, section 5.7).
func (s *cookieSite) shadowsSecure(c *Cookie) bool {
	return slices.ContainsFunc(s.cookies, func(old *kept) bool {
		return old.Secure && old.Name == c.Name && pathFits(c.Path, old.Path) && (under(c.Domain, old.Domain) || under(old.Domain, c.Domain))
	})
}

// remove takes the cookie at i away.
func (j *jar) remove(s *cookieSite, i int) {
	if k := s.cookies[i]; !k.loaded {
		s.bytes -= k.cost()
		s.count--
		j.bytes -= k.cost()
	}
	s.cookies = slices.Delete(s.cookies, i, i+1)
}

// drop forgets a site that has nothing left.
func (j *jar) drop(s *cookieSite) {
	if s.count == 0 && s.place != nil {
		j.used.Remove(s.place)
		s.place = nil
	}
	if len(s.cookies) == 0 {
		delete(j.sites, s.name)
	}
}

// touch says that a site is in use.
func (j *jar) touch(s *cookieSite) {
	switch {
	case s.count == 0:
	case s.place == nil:
		s.place = j.used.PushFront(s)
	default:
		j.used.MoveToFront(s.place)
	}
}

// fit keeps s and all sites together within their bounds.
func (j *jar) fit(s *cookieSite, now time.Time) {
	for s.count > maxSiteCookies || s.bytes > maxSiteBytes {
		j.remove(s, s.leastWanted(now))
	}
	for j.bytes > maxJarBytes {
		last := j.used.Back().Value.(*cookieSite)
		for i, k := range slices.Backward(last.cookies) {
			if !k.loaded {
				j.remove(last, i)
			}
		}
		j.drop(last)
	}
}

// leastWanted returns the place of a cookie that was set and has expired or, where none has, of the first that was set.
func (s *cookieSite) leastWanted(now time.Time) int {
	least := -1
	for i, k := range s.cookies {
		switch {
		case k.loaded:
		case k.expired(now):
			return i
		case least < 0 || k.order < s.cookies[least].order:
			least = i
		}
	}
	return least
}

// field returns the Cookie field for a request of u (RFC 6265, section 5.4); empty: there is none. Cookies that were set
// are sent where set is true, loaded ones where loaded is.
func (j *jar) field(u canon.URL, now time.Time, set, loaded bool) string {
	if !set && !loaded {
		return ""
	}
	host, path, secure := bareName(u), u.Path(), u.Scheme() == "https"
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.sites[siteOf(host)]
	if s == nil {
		return ""
	}
	j.touch(s)
	var fit []*kept
	for _, k := range s.cookies {
		wanted := set && !k.loaded || loaded && k.loaded
		if wanted && !k.expired(now) && k.domainFits(host) && pathFits(path, k.Path) && (secure || !k.Secure) {
			fit = append(fit, k)
		}
	}
	slices.SortFunc(fit, func(a, b *kept) int {
		return cmp.Or(cmp.Compare(len(b.Path), len(a.Path)), cmp.Compare(a.order, b.order))
	})
	var b strings.Builder
	for i, k := range fit {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(k.Name + "=" + k.Value)
	}
	return b.String()
}

// siteOf returns the registrable domain of a host, or the host itself where it has none: an address, or a public suffix.
func siteOf(host string) string {
	if isAddress(host) {
		return host
	}
	if site, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return site
	}
	return host
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

func (c *Cookie) domainFits(host string) bool {
	return host == c.Domain || !c.HostOnly && under(host, c.Domain)
}

// under reports whether a host is a domain or a name below it.
func under(host, domain string) bool {
	rest, ok := strings.CutSuffix(host, domain)
	return ok && (rest == "" || strings.HasSuffix(rest, "."))
}

// pathFits is the path-match of RFC 6265, section 5.1.4.
func pathFits(path, of string) bool {
	rest, ok := strings.CutPrefix(path, of)
	return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(of, "/"))
}

// settableBy reports whether a host may set the cookie, over https or not.
func (c *Cookie) settableBy(host string, secure bool) bool {
	switch {
	case c.Secure && !secure, !c.domainFits(host):
		return false
	case hasPrefixFold(c.Name, "__Secure-"):
		return c.Secure
	case hasPrefixFold(c.Name, "__Host-"):
		return c.Secure && c.HostOnly && c.Path == "/"
	}
	return true
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
