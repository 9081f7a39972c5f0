package testweb

import "math"

// plan is what a full page links to, before anything is written. Expected follows from slots alone; the tests compare
// it with plans, and plans with parsed pages.
type plan struct {
	size int    // bytes the page aims at; what it must hold may make it longer
	nav  []link // at the top of the page and again at its foot
	main []link
}

type link struct {
	to       place
	nofollow bool
}

// sigma makes the mean size exp(sigma²/2) = 1.36 times the median.
const sigma = 0.784

// maxSizes bounds a page's size in medians.
const maxSizes = 40

// fullBytes is the size from which on a page has all its links.
const fullBytes = 8_000

// make fills pl with the plan of p, which is a source: never a copy.
func (pl *plan) make(s *Site, p place) {
	d := s.dice(p, forPlan)
	pl.size = int(float64(s.cfg.MedianBytes) * min(math.Exp(sigma*d.normal()), maxSizes))
	links := s.cfg.LinksPerPage/2 + d.below(s.cfg.LinksPerPage+1)
	if pl.size < fullBytes {
		links = links * pl.size / fullBytes
	}
	pl.nav = s.appendNav(pl.nav[:0], p.host, links/6)
	pl.main = s.appendChildren(pl.main[:0], p)
	for len(pl.main) == 0 || len(pl.main)+2*len(pl.nav) < links {
		pl.main = append(pl.main, s.anyLink(p.host, &d))
	}
	for i := len(pl.main) - 1; i > 0; i-- {
		j := d.below(i + 1)
		pl.main[i], pl.main[j] = pl.main[j], pl.main[i]
	}
}

// appendNav appends links to the first slots of the host.
func (s *Site) appendNav(dst []link, host, n int) []link {
	for i := range min(n, s.cfg.PagesPerHost) {
		if k := s.kindOf(place{host, i}); k.linked() && k != nofollowed {
			dst = append(dst, link{to: place{host, i}})
		}
	}
	return dst
}

// appendChildren appends the links that only p has: to its children, and from a root to the roots of further hosts.
func (s *Site) appendChildren(dst []link, p place) []link {
	first, end := s.children(p)
	for n := first; n < end; n++ {
		if k := s.kindOf(place{p.host, n}); k.linked() {
			dst = append(dst, link{to: place{p.host, n}, nofollow: k == nofollowed})
		}
	}
	if p.n == 0 {
		for h := hostFanout*p.host + 1; h <= hostFanout*(p.host+1) && h < s.cfg.Hosts; h++ {
			dst = append(dst, link{to: place{h, 0}})
		}
	}
	return dst
}

// anyLink draws a link to a slot that others link to as well: in three of four cases on the same host.
func (s *Site) anyLink(host int, d *dice) link {
	if d.oneIn(2) {
		host = d.below(s.cfg.Hosts)
	}
	to := place{host, d.below(s.cfg.PagesPerHost)}
	if k := s.kindOf(to); !k.linked() || k == nofollowed {
		to = s.somePage(host, d)
	}
	return link{to: to, nofollow: d.oneIn(5)}
}
