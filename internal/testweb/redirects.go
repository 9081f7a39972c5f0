package testweb

import (
	"bytes"
	"strconv"
	"strings"
)

// statuses holds the answers of kinds that are no pages; a kind that is not here answers 200.
var statuses = [toOutside + 1]int{
	missing: 404, gone: 410,
	movedRelative: 301, movedHost: 302, movedPath: 303, movedSibling: 307, movedScheme: 308,
	chain1: 302, chain2: 301, chain3: 307, loop1: 302, loop2: 302, selfLoop: 302, toPrivate: 302, toOutside: 301,
}

func (k kind) status() int {
	if status := statuses[k]; status != 0 {
		return status
	}
	return 200
}

// destination returns where a redirect leads; not for toOutside, which leaves the site.
func (s *Site) destination(p place) place {
	d := s.dice(p, forTarget)
	switch s.kindOf(p) {
	case movedHost:
		return s.somePage((p.host+1)%s.cfg.Hosts, &d)
	case chain1:
		return s.following(p, chain2, &d)
	case chain2:
		return s.following(p, chain3, &d)
	case loop1:
		return s.following(p, loop2, &d)
	case loop2:
		return place{p.host, p.n - 1}
	case selfLoop:
		return p
	case toPrivate:
		return s.following(p, private, &d)
	}
	return s.somePage(p.host, &d)
}

// following returns the slot after p if it is of kind k. The last slot of a host may lack it.
func (s *Site) following(p place, k kind, d *dice) place {
	if next := (place{p.host, p.n + 1}); next.n < s.cfg.PagesPerHost && s.kindOf(next) == k {
		return next
	}
	return s.somePage(p.host, d)
}

// location returns the Location of a redirect, as it is sent.
func (s *Site) location(p place) string {
	k := s.kindOf(p)
	if k == toOutside {
		return string(s.appendOutside(nil, p))
	}
	to := s.destination(p)
	target := string(s.appendTarget(nil, to))
	switch {
	case strings.HasPrefix(target, doubled):
		return s.origin(to.host) + target
	case k == movedRelative:
		return "../.." + strings.ReplaceAll(target, "%C3%A9", "\u00E9") // the bytes of a header may well be UTF-8
	case k == movedSibling:
		return "./../../x/.." + target + "#there"
	case k == movedScheme:
		return "//" + s.names[to.host] + target
	case k == movedHost || k == chain2 || k == loop2:
		return s.origin(to.host) + target
	}
	return target
}

// appendOutside appends the URL, out of scope, that p leads to.
func (s *Site) appendOutside(b []byte, p place) []byte {
	b = append(b, s.scheme()+"://"+outsideHost+"/from/"...)
	b = append(b, s.names[p.host]...)
	b = append(b, '/')
	return strconv.AppendInt(b, int64(p.n), 10)
}

// bounced reports whether an aliased slot was asked for in the spelling that redirects to the other one.
func bounced(k kind, target []byte) bool {
	return k == aliased && bytes.HasPrefix(target, []byte("/%7"))
}
