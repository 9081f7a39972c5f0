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
	robotsTTL  = 24 * time.Hour      // RFC 9309, section 2.4
	closedTTL  = 10 * time.Minute    // for a robots.txt that could not be had: then it is asked for again
	rulesLast  = 30 * 24 * time.Hour // for what was said before one that cannot be had (RFC 9309, section 2.3.1.4)
	resolveTTL = 5 * time.Minute     // of addresses that come without a time of their own
	dnsFailTTL = 5 * time.Second     // for a look-up that failed
)

// permission is what the frontier keeps with an origin: its rules, or why nobody knows them.
type permission struct {
	*fetch.Robots
	unanswered error     // no answer came: the origin is as good as down
	learnt     time.Time // when the site said so; zero: it did not, and somebody must assume something
}

// Delay returns the Crawl-delay.
func (p *permission) Delay() (time.Duration, bool) {
	if p.Robots == nil {
		return 0, false
	}
	return p.CrawlDelay()
}

// Size returns how many bytes the rules take.
func (p *permission) Size() int64 {
	if p.Robots == nil {
		return 0
	}
	return p.Robots.Size()
}

// resolve looks up the addresses of a host. Like robots.txt, that is a task of its own: no page waits in a fetcher.
func (c *Crawler) resolve(ctx context.Context, l frontier.Lease) error {
	denied, err := c.deny.site(l.URL)
	switch {
	case err != nil:
		return errors.Join(err, c.frontier.Return(l))
	case denied != nil: // for this lease: the list may be another at the next
		return c.frontier.ResolveFailed(l, &deniedSite{denied}, 0)
	case c.needless(l):
		return c.frontier.ResolveFailed(l, errNotAsked, 0)
	}
	found, err := c.fetcher.Resolve(ctx, l.URL)
	switch {
	case c.nothingLearnt(ctx, err):
		return c.frontier.Return(l)
	case err != nil:
		return c.frontier.ResolveFailed(l, err, c.failureTTL(err))
	}
	addrs, denied, err := c.deny.addrs(found.Addrs)
	switch {
	case err != nil:
		return errors.Join(err, c.frontier.Return(l))
	case denied != nil && len(addrs) == 0:
		return c.frontier.ResolveFailed(l, &deniedSite{denied}, dnsFailTTL)
	}
	return c.frontier.Resolved(l, addrs, cmp.Or(found.TTL, resolveTTL))
}

// failureTTL is how long a failed look-up is held true. When it may end otherwise, that is over before the first retry.
func (c *Crawler) failureTTL(err error) time.Duration {
	if failure, ok := errors.AsType[*fetch.Error](err); ok && failure.Transient {
		return min(dnsFailTTL, c.live.Load().retries[RetryDNS].delay)
	}
	return dnsFailTTL
}

// askRobots makes one request for a robots.txt. RFC 9309, section 2.3.1: 4xx opens the site; 5xx, 429 and no answer close
// it, after as many attempts as a page gets; redirects are followed through the queues of their hosts. Where the rules were
// known, and are asked for again since they are a day old, the old ones go on instead, for up to rulesLast.
//
// A site that answers 5xx or 429 is most often back before long, so its pages wait for as long as the crawl has other work
// to do, and the host would not be given up for one more failure; only then are they recorded as denied.
func (c *Crawler) askRobots(ctx context.Context, l frontier.Lease) error {
	switch {
	case l.RobotsOverdue:
		return c.closeSite(l, c.closed("its redirect was not answered in time"), frontier.Outcome{})
	case c.notAsked(l):
		return c.frontier.Return(l)
	case l.ResolveErr != nil:
		return c.closeSite(l, c.unanswered(l, l.ResolveErr), frontier.Outcome{})
	}
	denied, err := c.mayAsk(&l)
	if err != nil {
		return errors.Join(err, c.frontier.Return(l))
	}
	if denied != nil {
		return c.closeSite(l, c.closed(c.deniedRobots(l, denied)), frontier.Outcome{})
	}
	ticket, err := c.ledger.begin(l)
	if err != nil {
		return errors.Join(err, c.frontier.Return(l))
	}
	result, err := c.fetcher.Fetch(ctx, fetch.Request{URL: l.URL, Addrs: l.Addrs, Fresh: l.Fresh, MaxBodyBytes: fetch.MaxRobotsBytes})
	asked := requestEndOf(result)
	if c.nothingLearnt(ctx, err) {
		c.ledger.end(ticket, asked)
		return c.frontier.Return(l)
	}
	asked.Requested = true
	if err == nil {
		asked.RetryAfter = retryAfterOf(result)
	}
	c.ledger.end(ticket, asked)
	c.committer.countRequest()
	if askAgain(l, err) {
		return c.frontier.AskAgain(l)
	}
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
	if ok && !c.knowsBetter(l) && !c.guessed.disproved(l.URL, err) {
		if wait, more := c.live.Load().retries.again(retryClassOf(failure), l.Attempt); more {
			return c.frontier.Retry(l, wait, outcome)
		}
	}
	return c.closeSite(l, c.unanswered(l, err), outcome)
}

func (c *Crawler) robotsAnswered(l frontier.Lease, r *fetch.Result, retryAfter time.Duration) error {
	outcome := frontier.Outcome{Requested: true, Took: r.Took, RetryAfter: retryAfter}
	switch {
	case isRedirect(r):
		return c.redirectRobots(l, r, outcome)
	case retryClassOfStatus(r.Status) != "":
		outcome.Failed = true
		c.robotsError(l, statusCode(r.Status), nil)
		if wait, more := c.robotsAgain(l, retryClassOfStatus(r.Status)); more && !c.knowsBetter(l) {
			return c.frontier.Retry(l, wait, outcome) // it caps Retry-After, and waits for the longer
		}
		return c.closeSite(l, &permission{Robots: fetch.RobotsFrom(r, nil, c.product)}, outcome)
	}
	robots := fetch.RobotsFrom(r, nil, c.product)
	if err := c.admitSitemaps(l, robots.Sitemaps()); err != nil {
		return err
	}
	return c.frontier.Permit(l, &permission{Robots: robots.WithoutSitemaps(), learnt: time.Now()}, robotsTTL, outcome)
}

// robotsAgain says whether, and after what wait, a robots.txt is asked for again that was answered with a status of that
// class.
func (c *Crawler) robotsAgain(l frontier.Lease, class RetryClass) (wait time.Duration, more bool) {
	policy := c.live.Load().retries
	if wait, more = policy.again(class, l.Attempt); more || policy[class].retries == 0 {
		return wait, more
	}
	if last := c.live.Load().giveUpAfter - 2; last >= -1 && l.Attempt >= last { // with one more failure the host might be given up
		return 0, false
	}
	return min(policy[class].wait(l.Attempt), closedTTL), c.frontier.HasOtherWork(l)
}

// knowsBetter reports whether the rules that l asks for anew are known from before.
func (c *Crawler) knowsBetter(l frontier.Lease) bool {
	before, ok := l.Permission.(*permission)
	return ok && !before.learnt.IsZero() && time.Since(before.learnt) < rulesLast
}

// closeSite ends a robots lease without an answer: what the site said before goes on, or p is what must be assumed. After
// closedTTL it is asked again.
func (c *Crawler) closeSite(l frontier.Lease, p *permission, outcome frontier.Outcome) error {
	if c.knowsBetter(l) {
		return c.frontier.Permit(l, l.Permission, closedTTL, outcome)
	}
	return c.frontier.Permit(l, p, closedTTL, outcome)
}

// robotsError lets people see why a host is waited for.
func (c *Crawler) robotsError(l frontier.Lease, code string, err error) {
	c.committer.countError(code)
	c.log.Debug("no robots.txt", "url", l.URL.String(), "attempt", l.Attempt+1, "code", code, "err", err)
}

// redirectRobots: a target that cannot be asked leaves the site without rules, as a missing file would.
func (c *Crawler) redirectRobots(l frontier.Lease, r *fetch.Result, outcome frontier.Outcome) error {
	open := &permission{Robots: fetch.AllowAll(), learnt: time.Now()}
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

// deniedRobots says why a robots.txt was not asked for. The pages of a site that is on a denylist itself end by that.
func (c *Crawler) deniedRobots(l frontier.Lease, why *denial) string {
	if l.RobotsHop == 0 {
		return "robots.txt is on a denylist: " + why.String()
	}
	return fmt.Sprintf("robots.txt redirects to %.200s, which is on a denylist: %v", l.URL, why)
}

func (c *Crawler) closed(why string) *permission {
	return &permission{Robots: fetch.DisallowAll(why)}
}
