package crawler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"crawl/fetch"
	"crawl/frontier"
)

const (
	robotsTTL  = 24 * time.Hour   // RFC 9309, section 2.4
	closedTTL  = 10 * time.Minute // for a robots.txt that could not be had: then it is asked for again
	resolveTTL = 5 * time.Minute  // of addresses that come without a time of their own
	dnsFailTTL = 5 * time.Second  // for a look-up that failed
)

// permission is what the frontier keeps with an origin: its rules, or why nobody knows them.
type permission struct {
	*fetch.Robots
	unanswered error // no answer came: the origin is as good as down
}

// Delay returns the Crawl-delay.
func (p *permission) Delay() (time.Duration, bool) {
	if p.Robots == nil {
		return 0, false
	}
	return p.CrawlDelay()
}

// resolve looks up the addresses of a host. Like robots.txt, that is a task of its own: no page waits in a fetcher.
func (c *Crawler) resolve(ctx context.Context, l frontier.Lease) error {
	if c.needless(l) {
		return c.frontier.ResolveFailed(l, errNotAsked, 0)
	}
	found, err := c.fetcher.Resolve(ctx, l.URL)
	switch {
	case c.nothingLearnt(ctx, err):
		return c.frontier.Return(l)
	case err != nil:
		return c.frontier.ResolveFailed(l, err, c.failureTTL(err))
	}
	return c.frontier.Resolved(l, found.Addrs, cmp.Or(found.TTL, resolveTTL))
}

// failureTTL is how long a failed look-up is held true. When it may end otherwise, that is over before the first retry.
func (c *Crawler) failureTTL(err error) time.Duration {
	if failure, ok := errors.AsType[*fetch.Error](err); ok && failure.Transient {
		return min(dnsFailTTL, c.live.Load().retries[RetryDNS].delay)
	}
	return dnsFailTTL
}

// askRobots makes one request for a robots.txt. RFC 9309, section 2.3.1: 4xx opens the site; 5xx, 429 and no answer close
// it, after as many attempts as a page gets; redirects are followed through the queues of their hosts.
func (c *Crawler) askRobots(ctx context.Context, l frontier.Lease) error {
	switch {
	case l.RobotsOverdue:
		return c.frontier.Permit(l, c.closed("its redirect was not answered in time"), closedTTL, frontier.Outcome{})
	case c.notAsked(l):
		return c.frontier.Return(l)
	case l.ResolveErr != nil:
		return c.frontier.Permit(l, c.unanswered(l, l.ResolveErr), closedTTL, frontier.Outcome{})
	}
	ticket, err := c.ledger.begin(l)
	if err != nil {
		return errors.Join(err, c.frontier.Return(l))
	}
	result, err := c.fetcher.Fetch(ctx, fetch.Request{URL: l.URL, Addrs: l.Addrs})
	asked := requestEndOf(result)
	if c.nothingLearnt(ctx, err) {
		c.ledger.end(ticket, asked)
		return c.frontier.Return(l)
	}
	asked.Requested = true
	if err == nil && retryClassOfStatus(result.Status) != "" {
		asked.RetryAfter, _ = fetch.RetryAfter(result.Header, time.Now())
	}
	c.ledger.end(ticket, asked)
	c.committer.countRequest()
	if err != nil {
		return c.robotsFailed(l, err)
	}
	defer result.Release()
	c.proxies.worked(result.Proxy)
	return c.robotsAnswered(l, result, asked.RetryAfter)
}

func (c *Crawler) robotsFailed(l frontier.Lease, err error) error {
	outcome := frontier.Outcome{Requested: true, Failed: true, Unreached: unreached(err)}
	if byProxy(err) {
		outcome = frontier.Outcome{}
	}
	failure, ok := errors.AsType[*fetch.Error](err)
	if ok {
		c.robotsError(l, string(failure.Code()), err)
	}
	if ok && !c.guessed.disproved(l.URL, err) {
		if wait, more := c.live.Load().retries.again(retryClassOf(failure), l.Attempt); more {
			return c.frontier.Retry(l, wait, outcome)
		}
	}
	return c.frontier.Permit(l, c.unanswered(l, err), closedTTL, outcome)
}

func (c *Crawler) robotsAnswered(l frontier.Lease, r *fetch.Result, retryAfter time.Duration) error {
	outcome := frontier.Outcome{Requested: true, Took: r.Took, RetryAfter: retryAfter}
	switch {
	case isRedirect(r):
		return c.redirectRobots(l, r, outcome)
	case retryClassOfStatus(r.Status) != "":
		outcome.Failed = true
		c.robotsError(l, statusCode(r.Status), nil)
		if wait, more := c.live.Load().retries.again(retryClassOfStatus(r.Status), l.Attempt); more {
			return c.frontier.Retry(l, wait, outcome) // it caps Retry-After, and waits for the longer
		}
		return c.frontier.Permit(l, &permission{Robots: fetch.RobotsFrom(r, nil, c.product)}, closedTTL, outcome)
	}
	robots := fetch.RobotsFrom(r, nil, c.product)
	if err := c.admitSitemaps(l, robots.Sitemaps()); err != nil {
		return err
	}
	return c.frontier.Permit(l, &permission{Robots: robots}, robotsTTL, outcome)
}

// robotsError lets people see why a host is waited for.
func (c *Crawler) robotsError(l frontier.Lease, code string, err error) {
	c.committer.countError(code)
	c.log.Debug("no robots.txt", "url", l.URL.String(), "attempt", l.Attempt+1, "code", code, "err", err)
}

// redirectRobots: a target that cannot be asked leaves the site without rules, as a missing file would.
func (c *Crawler) redirectRobots(l frontier.Lease, r *fetch.Result, outcome frontier.Outcome) error {
	open := &permission{Robots: fetch.AllowAll()}
	ref, _ := r.Location()
	target, err := rules.Parse(l.URL, ref)
	if err != nil || ref == "" {
		return c.frontier.Permit(l, open, robotsTTL, outcome)
	}
	err = c.frontier.RedirectRobots(l, target, outcome)
	if errors.Is(err, frontier.ErrTooManyHops) {
		return c.frontier.Permit(l, open, robotsTTL, outcome)
	}
	return err
}

// unanswered: that there is no answer where a robots.txt was redirected to says nothing of the origin itself.
func (c *Crawler) unanswered(l frontier.Lease, err error) *permission {
	if l.RobotsHop == 0 {
		return &permission{unanswered: err}
	}
	if failure, ok := errors.AsType[*fetch.Error](err); ok {
		err = failure.Err
	}
	return c.closed(fmt.Sprintf("robots.txt redirects to %.200s: %v", l.URL, err))
}

func (c *Crawler) closed(why string) *permission {
	return &permission{Robots: fetch.DisallowAll(why)}
}
