package testweb

// place is a slot: the n-th URL of a host. Slot 0 is the host's root.
type place struct{ host, n int }

// kind is what a slot is for.
type kind uint8

const (
	page        kind = iota // an ordinary page; the only kind, with frameset, that introduces others
	original                // a page with a twin
	copyOf                  // the same bytes as the slot before
	frameset                // <frame> elements only
	nofollowed              // linked with rel=nofollow alone
	unlinked                // listed in the sitemap alone
	empty                   // 200 and no byte
	plainText               // text/plain with markup in it
	octets                  // application/octet-stream with markup in it
	aliased                 // asked for as %7E it redirects to its own ~ spelling, the same URL to a crawler
	missing                 // 404
	gone                    // 410
	archiveOpen             // allowed by the longer match
	archive                 // disallowed, as are the next five; ordinary leaves on a host without robots.txt
	private
	printView
	session
	hidden
	secret
	movedRelative // redirects
	movedHost
	movedPath
	movedSibling
	movedScheme
	chain1
	chain2 // reached by redirects alone, as are chain3 and loop2
	chain3
	loop1
	loop2
	selfLoop
	toPrivate
	toOutside
)

// pattern repeats over the slots of all hosts, counted through, so that a web of many small hosts has every kind too.
var pattern = newPattern([][]kind{
	{original, copyOf}, {movedRelative}, {archiveOpen}, {chain1, chain2, chain3}, {missing}, {printView}, {frameset},
	{movedHost}, {unlinked}, {empty}, {toPrivate, private}, {plainText}, {loop1, loop2}, {archive}, {movedPath}, {secret},
	{nofollowed}, {aliased}, {movedSibling}, {session}, {selfLoop}, {octets}, {movedScheme}, {hidden}, {toOutside}, {gone},
})

// newPattern sets the groups six slots apart and leaves ordinary pages between them. A group has three slots at most.
func newPattern(groups [][]kind) []kind {
	const apart, spare = 6, 4
	p := make([]kind, apart*len(groups)+spare)
	for i, g := range groups {
		copy(p[1+apart*i:], g)
	}
	return p
}

// kindOf returns the kind of a slot. A slot that makes sense only after another one is a page where that one is cut off.
func (s *Site) kindOf(p place) kind {
	if p.n == 0 {
		return page
	}
	k := pattern[(p.host*s.cfg.PagesPerHost+p.n)%len(pattern)]
	if before, ok := k.leader(); ok && s.kindOf(place{p.host, p.n - 1}) != before {
		return page
	}
	return k
}

// leader returns the kind that the slot before must have.
func (k kind) leader() (kind, bool) {
	switch k {
	case copyOf:
		return original, true
	case chain2:
		return chain1, true
	case chain3:
		return chain2, true
	case loop2:
		return loop1, true
	}
	return 0, false
}

// introduces reports whether pages of this kind link to slots that nobody else may link to.
func (k kind) introduces() bool { return k == page || k == frameset }

// linked reports whether any page links to slots of this kind.
func (k kind) linked() bool { return k != unlinked && k != chain2 && k != chain3 && k != loop2 }

// rich reports whether a slot of this kind answers with a page of full size.
func (k kind) rich() bool {
	switch k {
	case page, original, copyOf, archiveOpen, nofollowed, unlinked:
		return true
	}
	return false
}

func (k kind) disallowed() bool { return k >= archive && k <= secret }

func (k kind) redirects() bool { return k >= movedRelative }

// pageFanout is how many slots an introducing page has to introduce; those of the slots after it that cannot introduce
// any come on top.
const pageFanout = 4

// children returns the slots that p introduces, first and last+1, before the check that they are linked. Every slot but
// the root is the child of exactly one introducing slot with a lower number, so all are reachable from the root.
func (s *Site) children(p place) (first, end int) {
	if !s.kindOf(p).introduces() {
		return 0, 0
	}
	next := p.n + 1
	for pageFanout*next < s.cfg.PagesPerHost && !s.kindOf(place{p.host, next}).introduces() {
		next++
	}
	return min(pageFanout*p.n+1, s.cfg.PagesPerHost), min(pageFanout*next+1, s.cfg.PagesPerHost)
}

// somePage returns a page of the host that others link to anyway.
func (s *Site) somePage(host int, d *dice) place {
	p := place{host, d.below(s.cfg.PagesPerHost)}
	for s.kindOf(p) != page {
		p.n--
	}
	return p
}

// source returns the slot whose bytes p answers with.
func (s *Site) source(p place) place {
	if s.kindOf(p) == copyOf {
		return place{p.host, p.n - 1}
	}
	return p
}

// fails reports whether p answers 503 at first.
func (s *Site) fails(p place) bool {
	if s.cfg.FailRate503 == 0 || !s.kindOf(p).rich() {
		return false
	}
	d := s.dice(p, forFailure)
	return d.unit() < s.cfg.FailRate503
}
