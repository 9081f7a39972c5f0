package crawler

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"crawl/canon"
)

// heals returns how many requests for the URL fail before it is well.
func (w *simWeb) heals(s simURL) int {
	x := int(w.dice(s.host.index, s.page, 9) % 6)
	if s.host.lame > 0 { // look-ups that fail are attempts too
		x = 0
	}
	switch s.kind {
	case simFlaky:
		return 1 + x%3
	case simBusy, simMute:
		return 1 + x%2
	case simOver, simCut:
		return 1
	case simBroken, simStump:
		return 1 << 30
	}
	return 0
}

// simReply is what comes of one request.
type simReply struct {
	latency    time.Duration
	err        error
	status     int
	header     http.Header
	body       []byte
	cut        bool
	retryAfter time.Duration
}

// reply is the answer to request n for a URL, from 1, at a time of the simulation.
func (w *simWeb) reply(s simURL, u canon.URL, n int, now time.Time) simReply {
	r := simReply{status: http.StatusOK, header: make(http.Header), latency: w.latency(s, n)}
	if s.host == nil || s.host.dead || s.host.down != nil && s.host.down(now.Sub(simStart)) {
		r.err, r.latency = simRefused, 20*time.Millisecond
		return r
	}
	if u.Path() == "/robots.txt" || u.Path() == "/shared.txt" {
		w.replyRobots(s, u, n, &r)
		return r
	}
	r.header.Set("Content-Type", "text/html")
	if n <= w.heals(s) {
		w.fail(s, n, now, &r)
		return r
	}
	switch to := w.redirect(s); {
	case to != "":
		r.status = http.StatusFound
		r.header.Set("Location", to)
	case s.kind == "" || s.kind == simGone:
		r.status = http.StatusNotFound
	case s.kind == simText:
		r.header.Set("Content-Type", "text/plain")
		r.body = []byte("<a href=/nothing>")
	default:
		r.body = w.body(s, w.links(s))
	}
	return r
}

// fail makes the answer one of those before a URL is well.
func (w *simWeb) fail(s simURL, n int, now time.Time, r *simReply) {
	switch s.kind {
	case simFlaky, simBroken:
		r.status = http.StatusInternalServerError
	case simBusy:
		r.status = http.StatusTooManyRequests
		r.retryAfter = time.Duration(3+w.dice(s.host.index, s.page, 11)%20) * time.Second
		if w.dice(s.host.index, s.page, 12)%8 == 0 {
			r.retryAfter = 2 * time.Minute
		}
		r.header.Set("Retry-After", strconv.Itoa(int(r.retryAfter/time.Second)))
		if n%2 == 0 { // as a date, which counts from when it was sent
			until := now.Add(r.latency).Truncate(time.Second).Add(r.retryAfter)
			r.header.Set("Retry-After", until.UTC().Format(http.TimeFormat))
			r.retryAfter = until.Sub(now.Add(r.latency))
		}
	case simOver:
		r.status = http.StatusServiceUnavailable
	case simMute:
		r.err, r.latency = simTimeout, 30*time.Second
	case simCut:
		r.cut = true
		r.body = w.body(s, w.links(s)[:1])
	case simStump:
		r.cut = true
		r.body = w.body(s, w.stump(s))
	}
}

func (w *simWeb) replyRobots(s simURL, u canon.URL, n int, r *simReply) {
	const rules = "User-agent: *\nDisallow: /private\n"
	if u.Host() == simRulesHost && u.Path() == "/shared.txt" {
		r.body = []byte(rules)
		return
	}
	away := func(to string) {
		r.status = http.StatusMovedPermanently
		r.header.Set("Location", to)
	}
	kind := s.host.robots
	if kind == robotsSick && n > 2 {
		kind = robotsRules
	}
	switch kind {
	case robotsMissing:
		r.status = http.StatusNotFound
	case robotsRules:
		r.body = []byte(rules)
		if s.host.crawl > 0 {
			r.body = fmt.Appendf(r.body, "Crawl-delay: %d\n", s.host.crawl/time.Second)
		}
	case robotsSick, robotsBroken:
		r.status = http.StatusInternalServerError
	case robotsMute:
		r.err, r.latency = simTimeout, 30*time.Second
	case robotsAway:
		away("http://" + simRulesHost + "/shared.txt")
	case robotsLost:
		away("http://" + simLostHost + "/shared.txt")
	case robotsAstray:
		hop, _ := strconv.Atoi(u.Query())
		away(fmt.Sprintf("%s/robots.txt?%d", u.Origin(), hop+1))
	}
}

func (w *simWeb) latency(s simURL, n int) time.Duration {
	if s.host == nil {
		return 20 * time.Millisecond
	}
	x := time.Duration(w.dice(s.host.index, s.page, 13+uint64(n)) >> 1)
	if s.host.slow {
		return 4*time.Second + x%(12*time.Second)
	}
	if s.host.wide { // of quick answers between slow ones come several requests at once
		return 50*time.Millisecond + x%(3*time.Second)
	}
	return 20*time.Millisecond + x%(180*time.Millisecond)
}
