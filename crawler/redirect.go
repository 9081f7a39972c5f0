package crawler

import (
	"fmt"
	"net/http"

	"crawl/canon"
	"crawl/fetch"
	"crawl/frontier"
	"crawl/store"
)

const (
	maxRedirects = 10 // hops from one page to another
	maxReroutes  = 5  // hops between spellings of one page
)

// isRedirect tells the statuses that lead elsewhere from those that only look so: 300 offers a choice, 304 has no body.
func isRedirect(r *fetch.Result) bool {
	switch r.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirected: a target with the same key is the same page under another spelling, and is asked for at once; another
// target is a link, with its source's depth and one hop more, and passes every test that a link passes.
func (c *Crawler) redirected(v *visit, r *fetch.Result) {
	v.page.Outcome = store.OutcomeRedirect
	ref, ok := r.Location()
	if !ok {
		v.astray(codeNoLocation, "a redirect without a target")
		return
	}
	target, err := rules.Parse(v.lease.URL, ref)
	if err == nil && tooLong(target) {
		err = errTooLong
	}
	if err != nil {
		v.reasons[reasonOf(err)]++
		v.astray(codeBadLocation, err.Error())
		return
	}
	v.page.RedirectTo = target.String()
	if c.deniedLink(v, link{url: target, depth: v.lease.Depth}) {
		v.astray(codeDenied, "its target is on a denylist")
		return
	}
	if c.names.Key(target) == c.names.Key(v.lease.URL) {
		c.sameKey(v, target, r.SetCookies)
		return
	}
	c.followRedirect(v, target)
}

// The codes of redirects that lead nowhere.
const (
	codeNoLocation       = "no_location"
	codeBadLocation      = "bad_location"
	codeDenied           = "denied" // its target is on a denylist
	codeRedirectLoop     = "redirect_loop"
	codeTooManyRedirects = "too_many_redirects"
)

// astray enters why a redirect leads nowhere.
func (v *visit) astray(code, why string) {
	v.page.Error = &store.PageError{Code: code, Phase: "redirect", Message: why}
}

// sameKey: a page that redirects to itself and sets a cookie asks whether the cookie comes back.
func (c *Crawler) sameKey(v *visit, target canon.URL, cookies bool) {
	if target == v.lease.URL && !cookies || v.lease.Reroutes >= maxReroutes {
		v.reasons[Seen]++
		v.astray(codeRedirectLoop, "it redirects to itself")
		return
	}
	v.end, v.target = endRerouted, target
}

func (c *Crawler) followRedirect(v *visit, target canon.URL) {
	l := v.lease
	next := c.link(target, l.Class, l.Depth, l.Hop+1)
	next.via = &frontier.Redirect{Hash: c.hashAs(l.URL, l.Class), Before: l.Via}
	if next.via.Contains(next.hash) {
		v.astray(codeRedirectLoop, fmt.Sprintf("%s is in this chain already", target)) // and counted as seen, like a link there
	}
	if next.hop > maxRedirects {
		v.trap(trapRedirects, next)
		v.astray(codeTooManyRedirects, fmt.Sprintf("more than %d redirects", maxRedirects))
		return
	}
	if c.leadsOn(v, next) {
		v.links = append(v.links, next)
	}
}

// leadsOn applies the crawl's rules to a redirect's target. A page's that leads out of the crawl is a link out of it.
func (c *Crawler) leadsOn(v *visit, next link) bool {
	switch l := &v.lease; {
	case l.Class == frontier.Seed || l.Class == frontier.Added:
		v.joins = c.scope.Entry(next.url)
		v.led = next.url.Host()
		c.namesakes.exempt(v.led)
		return true
	case l.Class == frontier.Check:
		rule, barred := c.scope.Barred(next.url)
		if !c.cfg.CheckExternal {
			rule, barred = checksOff, true
		}
		if barred {
			v.turnAway(OutOfScope, rule, next)
		}
		return !barred
	}
	if verdict := c.scope.Test(next.url, next.place()); !verdict.Admitted {
		if c.toCheck(next) {
			v.links = append(v.links, c.asCheck(next))
		} else {
			v.turnAway(OutOfScope, verdict.Rule, next)
		}
		return false
	}
	if rule := c.trapOf(v, next); rule != "" {
		v.trap(rule, next)
		return false
	}
	return true
}
