package crawler

import (
	"errors"
	"net/http"

	"crawl/canon"
	"crawl/fetch"
	"crawl/frontier"
	"crawl/store"
)

// A check asks whether a link that leads out of the crawl leads anywhere (Config.CheckExternal). It is a task like any
// other, of a class of its own: admitted once, kept through a kill, asked for in its host's turn and after its robots.txt,
// recorded as a page. What it asks for is a head alone: nothing of a body is read or followed.
//
// HEAD comes first. Servers refuse it, answer it with errors that a GET does not get, or break the connection, so a HEAD
// that did not end well says nothing: the same URL is asked for by GET when its host's turn has come again, and what that
// gets is recorded. The attempt tells which it is, since the log keeps that: the first is a HEAD, all later ones are GETs.

// checkMark stands before the name of a URL that is checked, so that the filter holds it beside the page of that URL: one
// that was checked is a new page to whoever has it in scope. No key starts so.
const checkMark = "check "

// nameAs returns what a URL with that key is remembered by.
func nameAs(key string, class frontier.Class) string {
	if class == frontier.Check {
		return checkMark + key
	}
	return key
}

// hashAs returns the hash by which a URL of that class is remembered.
func (c *Crawler) hashAs(u canon.URL, class frontier.Class) uint64 {
	return c.hasher.HashString(nameAs(c.names.Key(u), class))
}

// nameHashes are those of both that a URL may be remembered as.
type nameHashes struct{ page, check uint64 }

func hashesOf(h hasher, key string) nameHashes {
	return nameHashes{h.HashString(key), h.HashString(nameAs(key, frontier.Check))}
}

// find returns the number of the URL's admission, that of the page before that of the check.
func (n nameHashes) find(in ledger) (seq uint64, met bool, err error) {
	found, err := in.Find([]uint64{n.page, n.check})
	if seq, met = found[n.page]; !met {
		seq, met = found[n.check]
	}
	return seq, met, err
}

// toCheck reports whether a link that the scope refused is to be checked. A sitemap's entries are no links.
func (c *Crawler) toCheck(l link) bool {
	return l.class != frontier.Sitemap && c.mayCheck(l.url)
}

// mayCheck: what the user excludes is asked for in no way. Limits of depth and traps are for what is followed.
func (c *Crawler) mayCheck(u canon.URL) bool {
	if !c.cfg.CheckExternal {
		return false
	}
	_, barred := c.scope.Barred(u)
	return !barred
}

// asCheck makes a check of a link.
func (c *Crawler) asCheck(l link) link {
	check := c.link(l.url, frontier.Check, l.depth, l.hop)
	check.via = l.via
	return check
}

const checksOff = "check_external is off"

// checkPermitted ends a check that was admitted under other settings.
func (c *Crawler) checkPermitted(v *visit) bool {
	if !c.cfg.CheckExternal {
		v.refuseBy(OutOfScope, checksOff, checksOff)
		return false
	}
	if rule, barred := c.scope.Barred(v.lease.URL); barred {
		v.refuseBy(OutOfScope, rule, rule)
		return false
	}
	return true
}

// checkBy returns the method of a task's next request, if it is a check.
func checkBy(t *frontier.Task) store.Check {
	switch {
	case t.Class != frontier.Check:
		return ""
	case t.Attempt == 0:
		return store.CheckHead
	}
	return store.CheckGet
}

// isCheck reports whether the visit's answer is a head and no page.
func (v *visit) isCheck() bool { return v.page.Check != "" }

// request is what the visit asks for.
func (c *Crawler) request(v *visit) fetch.Request {
	r := fetch.Request{URL: v.lease.URL, Addrs: v.lease.Addrs, Want: c.wantOf(&v.lease), Fresh: v.lease.Fresh}
	if v.isCheck() {
		r.HeadOnly, r.Want = v.page.Check == store.CheckHead, noBody
		return r
	}
	r.Header = c.condition(v)
	return r
}

func noBody(int, http.Header) int64 { return 0 }

// tries is the number of attempts before this one that count for the rules of retries: a HEAD that a GET follows does not.
func (v *visit) tries() int {
	if v.isCheck() {
		return max(v.lease.Attempt-1, 0)
	}
	return v.lease.Attempt
}

// insteadOfHead has a check whose HEAD did not end well ask by GET.
func (v *visit) insteadOfHead(err error) {
	if v.page.Check != store.CheckHead || !headRefused(v.page.Status, err) {
		return
	}
	v.end, v.wait = endRetry, 0
}

// headRefused reports whether an answer, or a failure where there is none, may be one to HEAD alone. A host that says it has
// too much to do says so to any request.
func headRefused(status int, err error) bool {
	if err == nil {
		return status >= 400 && status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable
	}
	failure, ok := errors.AsType[*fetch.Error](err)
	return ok && (failure.Phase == fetch.PhaseWrite || failure.Phase == fetch.PhaseHead)
}
