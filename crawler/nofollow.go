package crawler

import "crawl/internal/parse"

// NoFollowRules say whose word counts that links are not to be followed.
type NoFollowRules struct {
	IgnorePages bool // also where a page's robots meta element or X-Robots-Tag says nofollow
	ObeyLinks   bool // not where a link says rel=nofollow, each time that its page names the URL
}

// NoFollowView counts what these words cost, or would cost. Page and Link make ByReason["nofollow"].
type NoFollowView struct {
	Page     uint64 `json:"page"`     // links of pages that say nofollow, left
	Link     uint64 `json:"link"`     // links with rel=nofollow, left
	Followed uint64 `json:"followed"` // links with rel=nofollow, tested on as any other
}

func (n *NoFollowView) add(other NoFollowView) {
	n.Page += other.Page
	n.Link += other.Link
	n.Followed += other.Followed
}

// noFollow is what page and link say of one link.
type noFollow struct{ page, link bool }

// saidOf returns what is said of a link, as far as it counts.
func (c *Crawler) saidOf(page *parse.Page, l parse.Link) noFollow {
	return noFollow{page: page.NoFollow && !c.cfg.NoFollow.IgnorePages, link: l.NoFollow}
}

// forbids reports whether a link is left for that.
func (c *Crawler) forbids(said noFollow) bool {
	return said.page || said.link && c.cfg.NoFollow.ObeyLinks
}

// countNoFollow counts a link of which something was said.
func (v *visit) countNoFollow(said noFollow, left bool) {
	switch {
	case left && said.page:
		v.noFollow.Page++
	case left:
		v.noFollow.Link++
	case said.link:
		v.noFollow.Followed++
	}
}
