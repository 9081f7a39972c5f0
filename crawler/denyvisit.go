package crawler

import (
	"crawl/frontier"
	"crawl/store"
)

// deniedLink enters a link that a denylist refuses, and reports whether one does. Where a list cannot be read, the visit is
// to end without a word, and the run with it.
func (c *Crawler) deniedLink(v *visit, l link) bool {
	why, err := c.deny.url(l.url)
	switch {
	case err != nil:
		v.broken = err
	case why != nil:
		countIn(&v.denied, why.rule(), 1)
		v.offer(ruleKey{Denied, why.rule()}, l)
	}
	return why != nil || err != nil
}

// denies ends a visit whose URL is on a denylist by now, seeds included, or whose host leads to nothing but addresses on
// one.
func (c *Crawler) denies(v *visit) bool {
	why, err := c.mayAsk(&v.lease)
	switch {
	case err != nil:
		v.end, v.broken = endReturned, err
	case why != nil:
		v.deny(why)
	}
	return why != nil || err != nil
}

func (v *visit) deny(why *denial) {
	v.denier = why.rule()
	v.refuse(store.OutcomeDenied, "deny", why.String())
}

// allowed takes the addresses on a denylist out of a lease. Where none is left it says why.
func (c *Crawler) allowed(l *frontier.Lease) (why *denial, err error) {
	if len(l.Addrs) == 0 {
		return nil, nil
	}
	addrs, why, err := c.deny.addrs(l.Addrs)
	if err != nil || len(addrs) == 0 {
		return why, err
	}
	l.Addrs = addrs
	return nil, nil
}

// spoilt is a visit of which nothing is kept, since a list could not be read while it went on.
func (v *visit) spoilt() *visit {
	return &visit{lease: v.lease, end: endReturned, ticket: v.ticket, asked: v.asked, broken: v.broken}
}

// deniedSite is why a host has no addresses to be asked at: it is on a denylist, or all of them are.
type deniedSite struct{ why *denial }

func (e *deniedSite) Error() string { return e.why.String() }

// mayAsk says why a lease's URL may not be asked for; nil: it may. It takes addresses that are refused out of the lease.
func (c *Crawler) mayAsk(l *frontier.Lease) (why *denial, err error) {
	if why, err = c.deny.url(l.URL); why == nil && err == nil {
		why, err = c.allowed(l)
	}
	return why, err
}
