package crawler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"

	"crawl/canon"
	"crawl/fetch"
	"crawl/frontier"
	"crawl/internal/parse"
	"crawl/store"
)

// visit is one attempt at one URL, from its lease to what the commit needs to know.
type visit struct {
	lease   frontier.Lease
	former  *store.Page // of the visit before, where the request asks whether the page has changed since
	page    store.Page
	record  store.EncodedPage // page, all but its number; for endDone
	answer  frontier.Outcome
	end     ending
	wait    time.Duration // before a retry
	target  canon.URL     // of a reroute
	refused bool          // by rules, the crawl's or the site's: no error
	ticket  ticket        // of the request, in the ledger; zero: none was made
	asked   requestEnd    // what came of it
	broken  error         // the *PromiseError for which none was made, or why a denylist could not be read

	links     []link            // that passed every test but the filter
	shuts     *AlikePattern     // a pattern of which this page was one too many
	ledEnough bool              // what it leads down to is not wanted
	reasons   reasonCounts      // of the others
	noFollow  NoFollowView      // of links that said, or whose page said, that they are not to be followed
	inPieces  bool              // there were more links, which are committed already
	traps     map[string]uint64 // reasons[Trap] by the rule; nil where there is none
	denied    map[string]uint64 // links that denylists refuse, by the list; not in reasons
	denier    string            // the list for which no request was made
	rules     []ruleTally       // of reasons and denied, by the rule that refused
	refusals  []refusedLink     // those of them that may be listed
	refuser   ruleKey           // the rule that ended the visit; but for a denylist
	joins     string            // joins the scope: a seed redirects there
	led       string            // host that a seed redirects to
}

// ending is how a visit ends its lease.
type ending uint8

const (
	endDone     ending = iota // with an outcome and a record
	endRetry                  // pending again, after a wait
	endRerouted               // the same page under another request URL
	endAskAgain               // the connection was stale: pending again, as it was
	endReturned               // nothing was learnt: the run is over
)

// link is a URL that may be admitted.
type link struct {
	url   canon.URL
	hash  uint64
	named canon.Applied // the policies that made its name
	class frontier.Class
	depth int
	hop   int
	via   *frontier.Redirect // the redirect that leads here; nil for a link
}

// entry is the visit's line in the done log.
func (v *visit) entry(event store.Event) store.DoneEntry {
	return store.DoneEntry{
		Seq: v.lease.Seq, Event: event, Outcome: v.page.Outcome, Status: uint16(v.page.Status),
		Attempt: uint8(v.lease.Attempt + 1), Visit: uint16(v.lease.Visit), At: time.Now(),
	}
}

// visit follows one leased page up to the commit.
func (c *Crawler) visit(ctx context.Context, s *scratch, l frontier.Lease) *visit {
	v := &visit{lease: l, page: store.Page{
		Seq: l.Seq, Visit: max(l.Visit, 1), URL: l.URL.String(), FetchedAt: l.LeasedAt.UTC().Truncate(time.Millisecond),
		Check: checkBy(&l.Task), Depth: l.Depth, Referrer: c.referrer(&l), Seed: c.committer.labels.text(l.Seed),
	}}
	if c.denies(v) || !c.permitted(v) {
		return v.encode()
	}
	l = v.lease // without the addresses that are denied
	request := c.request(v)
	if v.ticket, v.broken = c.ledger.begin(l); v.broken != nil {
		v.end = endReturned
		return v
	}
	result, err := c.fetcher.Fetch(ctx, request)
	v.asked = requestEndOf(result)
	switch {
	case c.nothingLearnt(ctx, err):
		v.end = endReturned
		return v
	case askAgain(l, err):
		v.end, v.answer = endAskAgain, frontier.Outcome{Requested: true}
		return v
	case err != nil:
		c.failed(v, err)
		v.insteadOfHead(err)
		return v.encode()
	}
	defer result.Release()
	c.proxies.worked(result.Proxy)
	c.answered(v, result)
	v.insteadOfHead(nil)
	if v.end == endDone && v.hasPage() {
		c.read(s, v, result)
	}
	if v.broken != nil {
		return v.spoilt()
	}
	return v.encode()
}

// hasPage reports whether the answer's body is a page, to be read for links. A 300 offers a choice of them.
func (v *visit) hasPage() bool {
	if v.isCheck() {
		return false
	}
	switch v.page.Outcome {
	case store.OutcomeOK, store.OutcomeTruncated:
		return true
	}
	return v.page.Status == http.StatusMultipleChoices
}

// encode does what can be done of the record before its number is known.
func (v *visit) encode() *visit {
	if v.end != endDone {
		return v
	}
	var err error
	if v.record, err = store.EncodePage(&v.page); err != nil {
		// Only what extraction made can be too long for a record, or have no JSON form.
		v.page.Extract, v.page.Error = nil, &store.PageError{Code: "extract", Phase: "parse", Message: err.Error()}
		v.record, _ = store.EncodePage(&v.page)
	}
	return v
}

// permitted ends a visit that needs no request: its robots.txt, its address or the crawl's rules forbid it.
func (c *Crawler) permitted(v *visit) bool {
	l := v.lease
	if !c.inScope(v) {
		return false
	}
	if c.notAsked(l) {
		v.end = endReturned
		return false
	}
	if l.ResolveErr != nil {
		c.failed(v, l.ResolveErr)
		return false
	}
	site, ok := l.Permission.(*permission)
	if !ok {
		return true // robots.txt is ignored
	}
	if site.unanswered != nil {
		v.fail(site.unanswered) // it was tried as often as a page would be
		c.tryHTTP(v)
		return false
	}
	if d := site.Test(l.URL); !d.Allowed {
		c.ledger.denied(l.URL.Host())
		v.refuse(store.OutcomeRobotsDenied, "robots", robotsRule(d))
		return false
	}
	return true
}

// inScope ends a visit that the crawl's own rules forbid by now. Seeds are exempt.
func (c *Crawler) inScope(v *visit) bool {
	l := &v.lease
	switch l.Class {
	case frontier.Seed, frontier.Added:
		return true
	case frontier.Check:
		return c.checkPermitted(v)
	}
	if verdict := c.scope.Test(l.URL, placeOf(&l.Task)); !verdict.Admitted {
		v.refuseBy(OutOfScope, verdict.Rule, verdict.Rule)
		return false
	}
	if most := c.live.Load().maxDepth; tooDeep(l.Class, l.Depth, most) {
		v.refuseBy(TooDeep, ruleMaxDepth, fmt.Sprintf("depth %d, max_depth is %d", l.Depth, *most))
		return false
	}
	return !c.entrapped(v)
}

func robotsRule(d fetch.Decision) string {
	if d.Line == 0 {
		return d.Rule
	}
	return fmt.Sprintf("robots.txt line %d: %s", d.Line, d.Rule)
}

// refuse ends a visit by a rule. That is no error, but the record says which rule it was.
func (v *visit) refuse(o store.Outcome, phase, why string) {
	v.refused = true
	v.page.Outcome = o
	v.page.Error = &store.PageError{Code: o.String(), Phase: phase, Message: why}
}

// refuseBy ends a visit by a rule of the crawl, as a link would end under the reason.
func (v *visit) refuseBy(reason Reason, rule, why string) {
	v.refuser = ruleKey{reason, rule}
	switch reason {
	case TooDeep:
		v.refuse(store.OutcomeTooDeep, "scope", why)
	case Trap:
		v.refuse(store.OutcomeTrap, "trap", why)
	default:
		v.refuse(store.OutcomeOutOfScope, "scope", why)
	}
}

// failed ends a visit that got no answer: again later, or for good.
func (c *Crawler) failed(v *visit, err error) {
	if denied, ok := errors.AsType[*deniedSite](err); ok {
		v.deny(denied.why)
		return
	}
	class := v.fail(err)
	if v.page.Outcome == store.OutcomeAddressDenied {
		return
	}
	asked := v.lease.ResolveErr == nil
	v.answer = frontier.Outcome{Requested: asked, Failed: asked || class != "", Unreached: asked && unreached(err)}
	if byProxy(err) { // the host was not asked, and is not to blame
		v.answer = frontier.Outcome{}
	}
	if !c.guessed.disproved(v.lease.URL, err) {
		c.retryLater(v, class)
	}
	if v.end == endDone && asked {
		c.tryHTTP(v)
	}
}

// askAgain reports whether what l asks for is to be asked for once more, in its turn, since it met with a connection that
// its server had done with. A server that never answers on kept connections so has two requests for a page; it is owed the
// delay between them.
func askAgain(l frontier.Lease, err error) bool { return errors.Is(err, fetch.ErrAskAgain) && !l.Fresh }

// unreached reports whether a request failed for want of a connection.
func unreached(err error) bool {
	failure, ok := errors.AsType[*fetch.Error](err)
	return ok && failure.Phase == fetch.PhaseDial && failure.Code() != fetch.CodeProxy
}

// fail enters why there was no answer, and returns the class by which it is tried again; empty where another try would
// end likewise.
func (v *visit) fail(err error) RetryClass {
	v.page.Outcome = store.OutcomeFailed
	failure, ok := errors.AsType[*fetch.Error](err)
	if !ok { // of a Fetcher that does not keep to its contract
		v.page.Error = &store.PageError{Code: string(fetch.CodeOther), Phase: "fetch", Message: err.Error()}
		return ""
	}
	v.page.Error = &store.PageError{
		Code: string(failure.Code()), Phase: failure.Phase.String(), Message: failure.Err.Error(),
	}
	if failure.Code() == fetch.CodeAddressDenied {
		v.page.Outcome = store.OutcomeAddressDenied
	}
	return retryClassOf(failure)
}

// retryLater makes the visit a retry while its class has attempts left; the empty class has none.
func (c *Crawler) retryLater(v *visit, class RetryClass) {
	if wait, more := c.live.Load().retries.again(class, v.tries()); more {
		v.end, v.wait = endRetry, wait
	}
}

// tryHTTP: a seed without a scheme was taken as https first, and got no answer there.
func (c *Crawler) tryHTTP(v *visit) {
	l := v.lease
	if !c.guessed.has(l.URL) || l.Class > frontier.Added || l.Hop > 0 {
		return
	}
	plain, err := canon.Parse("http" + l.URL.String()[len("https"):])
	if err != nil {
		return
	}
	v.links = append(v.links, c.link(plain, l.Class, l.Depth, 0))
}

// answered enters an answer's head, and decides whether it is the visit's last.
func (c *Crawler) answered(v *visit, r *fetch.Result) {
	p := &v.page
	p.Status = r.Status
	if r.Addr.IsValid() { // a Fetcher of the caller's need not know it
		p.IP = r.Addr.Addr().String()
	}
	p.Proxy = r.Proxy
	p.DurationMS = r.Took.Milliseconds()
	p.ContentType = parse.ContentType(r.Header)
	if !v.isCheck() {
		v.enterBody(r)
	}
	v.answer = frontier.Outcome{Requested: true, Took: r.Took, RetryAfter: retryAfterOf(r)}

	switch {
	case c.outOfType(v, r):
	case retryClassOfStatus(r.Status) != "":
		c.serverError(v, r)
	case r.Status >= 400:
		p.Outcome = store.OutcomeClientError
	case isRedirect(r):
		c.redirected(v, r)
	case !v.isCheck() && (r.Truncated != fetch.Whole || r.DecodeErr != nil):
		c.incomplete(v, r)
	case r.Status >= 200 && r.Status < 300:
		p.Outcome = store.OutcomeOK
		if !v.isCheck() {
			v.keepValidators(r)
		}
	case r.Status == http.StatusNotModified && v.former != nil:
		v.notModified(r)
	default:
		p.Outcome = store.OutcomeOther
	}
}

// enterBody enters what the answer's body is.
func (v *visit) enterBody(r *fetch.Result) {
	p := &v.page
	p.BodyBytes, p.DecodedBytes = int64(len(r.Payload)), int64(len(r.Body))
	p.Truncated, p.Mislabeled = string(r.Truncated), r.Mislabeled
	if !errors.Is(r.BodyErr, fetch.ErrUnwanted) || len(r.Payload) > 0 {
		sum := sha256.Sum256(r.Payload)
		p.Digest = "sha256:" + hex.EncodeToString(sum[:])
	}
}

// retryAfterOf returns how long an answer asks that its host be left alone, which the frontier caps; 0 for no such word. It
// counts with every status but success: RFC 9110, section 10.2.3, names 503 and the redirects, others are in use.
func retryAfterOf(r *fetch.Result) time.Duration {
	if r.Status < 300 {
		return 0
	}
	wait, _ := fetch.RetryAfter(r.Header, time.Now())
	return wait
}

func statusCode(status int) string { return fmt.Sprintf("status_%d", status) }

func truncatedCode(why string) string { return "truncated_" + why }

// serverError: 429 and 503 are the host's word that it has too much to do, and it is left alone, for as long as it asks.
// Any other 5xx is taken for the fault of one page, which is tried again later; the rest of the site goes on.
func (c *Crawler) serverError(v *visit, r *fetch.Result) {
	v.page.Outcome = store.OutcomeServerError
	v.page.Error = &store.PageError{Code: statusCode(r.Status), Phase: "head", Message: http.StatusText(r.Status)}
	v.answer.Failed = r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable
	c.retryLater(v, retryClassOfStatus(r.Status))
}

// incomplete: a body that the peer cut is asked for again; what a limit cut would be cut again.
func (c *Crawler) incomplete(v *visit, r *fetch.Result) {
	p := &v.page
	p.Outcome = store.OutcomeTruncated
	p.Error = &store.PageError{Code: truncatedCode(p.Truncated), Phase: "body", Message: "the body is not whole"}
	switch {
	case r.BodyErr != nil:
		p.Error.Message = r.BodyErr.Error()
	case r.Truncated == fetch.Whole:
		p.Error.Code, p.Error.Phase, p.Error.Message = "decode", "decode", r.DecodeErr.Error()
	}
	c.retryLater(v, retryClassOfCut(r.Truncated))
}
