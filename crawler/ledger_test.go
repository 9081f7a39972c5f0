package crawler

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crawl/canon"
	"crawl/fetch"
	"crawl/frontier"
	"crawl/store"
)

// A frontier with a fault is found out before it does harm: the ledger, which does not believe it, has the run end before
// the request is sent, and the state is saved.
func TestLedgerFindsAFaultyFrontier(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault func(*frontier.Config)  // what the frontier does
		lie   func(*frontier.Promise) // what it should have done
		want  string
	}{
		{name: "it keeps no delay", fault: func(c *frontier.Config) { c.HostDelay = frontier.None },
			lie: func(p *frontier.Promise) { p.HostDelay = max(p.HostDelay, simDelay) }, want: "(host_delay), this would be after"},
		{name: "it is a little early", fault: func(c *frontier.Config) { c.HostDelay = simDelay - time.Millisecond },
			lie: func(p *frontier.Promise) { p.HostDelay = max(p.HostDelay, simDelay) }, want: "(host_delay), this would be after"},
		{name: "it does not wait as long as it reckoned", lie: func(p *frontier.Promise) { p.Delay += time.Millisecond }, want: "between two requests"},
		{name: "it does not heed a Crawl-delay", fault: func(c *frontier.Config) { c.MaxCrawlDelay = frontier.None },
			lie: func(p *frontier.Promise) { p.MaxCrawlDelay = time.Minute }, want: "(crawl_delay), this would be after"},
		{name: "it hands out two at once", fault: func(c *frontier.Config) {
			c.Overrides = append(c.Overrides, frontier.Override{Pattern: "*", HostConcurrency: new(4)})
		}, lie: func(p *frontier.Promise) { p.Slots = 1 }, want: "1 requests in flight at most (host_concurrency), this would be one more than 1"},
		{name: "it does not heed a Retry-After", fault: func(c *frontier.Config) { c.MaxRetryAfter = frontier.None },
			want: "no request before its Retry-After is over"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSim(newSimWeb(4, 150, 300, 600), filepath.Join(simFolder(t), "a.crawl"), simFS(), func(*Config) {})
			var err error
			var heldBack bool
			bubble(t, func(t *testing.T) {
				p, failed := s.create()
				if failed != nil {
					t.Fatal(failed)
				}
				if tt.fault != nil {
					faulty := p.cfg.Frontier
					tt.fault(&faulty)
					if err := p.frontier.Configure(faulty); err != nil {
						t.Fatal(err)
					}
				}
				p.lease = func(ctx context.Context) (frontier.Lease, error) {
					l, err := p.frontier.Lease(ctx)
					if tt.lie != nil {
						tt.lie(&l.Promise)
					}
					return l, err
				}
				err = p.Run(t.Context())
				broken, ok := errors.AsType[*PromiseError](err)
				heldBack = ok && p.fetcher.guard(broken.Host).inFlight <= 1
				_ = p.end() // the site sees what faults the ledger does not look for
			})
			if !heldBack || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("the run ended with %v, want %q", err, tt.want)
			}
			t.Log(err)
			reader, failed := store.OpenReader(s.dir)
			if failed != nil {
				t.Fatal(failed)
			}
			defer reader.Close()
			snapshot, failed := ReadSnapshot(reader.Cut())
			if failed != nil || snapshot.State != Stopped || snapshot.Queued == 0 || snapshot.Checkpoint.Number == 0 {
				t.Errorf("the state that was saved is %s with %d queued, %v", snapshot.State, snapshot.Queued, failed)
			}
		})
	}
}

// page returns a lease on a page as the frontier would hand it out now.
func page(t testing.TB, url string, p frontier.Promise) frontier.Lease {
	t.Helper()
	u, err := canon.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return frontier.Lease{Kind: frontier.Page, Task: frontier.Task{URL: u}, Promise: p, LeasedAt: time.Now()}
}

// once makes a request that takes so long.
func (g *hostLedger) once(l frontier.Lease, took time.Duration, o frontier.Outcome, status int) error {
	t, err := g.begin(l)
	if err != nil {
		return err
	}
	_ = rest(context.Background(), took)
	g.end(t, requestEnd{Outcome: o, at: time.Now(), status: status, bytes: 100})
	return nil
}

func TestLedgerMeasures(t *testing.T) {
	const s = time.Second
	requested := frontier.Outcome{Requested: true}
	promise := frontier.Promise{Slots: 1, Delay: s, Why: frontier.Configured, HostDelay: s, MaxCrawlDelay: time.Minute}
	synctest.Test(t, func(t *testing.T) {
		g := newLedger(frontier.Config{}, false)
		ask := func(url string, after time.Duration, o frontier.Outcome, status int, want string) {
			t.Helper()
			_ = rest(t.Context(), after)
			err := g.once(page(t, url, promise), 300*time.Millisecond, o, status)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s after %v: %v, want %q", url, after, err, want)
			}
		}
		ask("https://a.example/1", 0, requested, 200, "")
		ask("https://a.example/2", 1500*time.Millisecond, requested, 429, "")
		ask("https://a.example/early", s-1, requested, 0, "1s between two requests (host_delay), this would be after 999.999999ms")
		ask("https://a.example/3", 1, requested, 503, "")
		ask("https://a.example/none", s, frontier.Outcome{}, 0, "") // no request came of it
		ask("https://a.example/4", 0, frontier.Outcome{Requested: true, RetryAfter: 20 * s}, 200, "")
		ask("https://a.example/held", 19*s, requested, 200, "Retry-After is over, in 1s")
		ask("https://a.example/5", s, requested, 0, "")
		ask("https://b.example/", 0, requested, 200, "") // another host
		g.denied("a.example")

		a := g.asked()
		if len(a.Hosts) != 2 || a.Hosts[0].Host != "a.example" {
			t.Fatalf("%+v, want a.example and b.example", a)
		}
		h := a.Hosts[0]
		if h.Requests != 5 || h.Status429 != 1 || h.Status503 != 1 || h.Unanswered != 1 || h.RobotsDenied != 1 || h.BodyBytes != 500 {
			t.Errorf("%+v", h)
		}
		if h.MostInFlight != 1 || h.Allowed != 1 || *h.SmallestGapS != 1 || h.AskedGapS != 1 || h.AskedFrom != "host_delay" {
			t.Errorf("smallest gap %v, asked %v by %s, most in flight %d of %d", *h.SmallestGapS, h.AskedGapS, h.AskedFrom, h.MostInFlight, h.Allowed)
		}
		if b := a.Hosts[1]; b.SmallestGapS != nil || b.Requests != 1 {
			t.Errorf("%+v, want one request and no gap", b)
		}
	})
}

// With two allowed in flight, the time from one to the next counts from lease to lease: a busy machine may send them late,
// and in another order.
func TestLedgerOfSeveralInFlight(t *testing.T) {
	const s = time.Second
	promise := frontier.Promise{Slots: 2, Delay: s, HostDelay: s}
	synctest.Test(t, func(t *testing.T) {
		g := newLedger(frontier.Config{}, false)
		lease := func(n int) frontier.Lease {
			l := page(t, fmt.Sprintf("https://a.example/%d", n), promise)
			_ = rest(t.Context(), s)
			return l
		}
		one, two, three := lease(1), lease(2), lease(3)
		second, err := g.begin(two)
		if err != nil {
			t.Fatal(err)
		}
		first, err := g.begin(one)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.begin(three); err == nil || !strings.Contains(err.Error(), "2 requests in flight at most") {
			t.Errorf("a third was begun: %v", err)
		}
		g.end(second, requestEnd{Outcome: frontier.Outcome{Requested: true}, at: time.Now(), status: 200})
		if _, err := g.begin(three); err != nil {
			t.Error(err)
		}
		g.end(first, requestEnd{Outcome: frontier.Outcome{Requested: true}, at: time.Now(), status: 200})
		early := page(t, "https://a.example/4", promise)
		early.LeasedAt = three.LeasedAt.Add(s - 1)
		if _, err := g.begin(early); err == nil {
			t.Error("one that was leased too early was begun")
		}
	})
}

// The ledger's times are those of the monotonic clock, leases included: one that is set back or ahead means nothing.
func TestLedgerIgnoresTheWallClock(t *testing.T) {
	f, err := frontier.New(frontier.Config{})
	if err != nil {
		t.Fatal(err)
	}
	g := newLedger(frontier.Config{}, false)
	l := page(t, "https://a.example/", frontier.Promise{})
	f.Add(l.Task)
	l, err = f.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]time.Time{"lease": l.LeasedAt, "start": g.start, "end": requestEndOf(nil).at} {
		if at == at.Round(0) { // which takes off the monotonic reading
			t.Errorf("the time of the %s is the wall clock's alone", name)
		}
	}
}

// In a crawl that goes on no host is asked before its delay since then, and a Crawl-delay is asked for by the rules
// themselves.
func TestLedgerOfAnotherProcess(t *testing.T) {
	const s = time.Second
	rules, err := fetch.ParseRobots(strings.NewReader("User-agent: *\nCrawl-delay: 5\nCrawl-delay: 7\n"), "bot")
	if err != nil {
		t.Fatal(err)
	}
	promise := frontier.Promise{Slots: 1, Delay: s, HostDelay: s, MaxCrawlDelay: time.Minute}
	synctest.Test(t, func(t *testing.T) {
		g := newLedger(frontier.Config{}, true)
		_ = rest(t.Context(), s-1)
		if _, err := g.begin(page(t, "https://a.example/", promise)); err == nil || !strings.Contains(err.Error(), "the crawl went on at") {
			t.Errorf("asked too soon: %v", err)
		}
		_ = rest(t.Context(), 1)
		l := page(t, "https://a.example/", promise)
		if err := g.once(l, s, frontier.Outcome{Requested: true}, 200); err != nil {
			t.Error(err)
		}
		_ = rest(t.Context(), 6*s)
		l = page(t, "https://a.example/2", promise)
		l.Permission = &permission{Robots: rules}
		if err := g.once(l, s, frontier.Outcome{Requested: true}, 200); err == nil || !strings.Contains(err.Error(), "7s between two requests (crawl_delay)") {
			t.Errorf("asked against its Crawl-delay: %v", err)
		}
		_ = rest(t.Context(), s)
		if err := g.once(l, s, frontier.Outcome{Requested: true}, 200); err != nil {
			t.Error(err)
		}
		_ = rest(t.Context(), s)
		away := page(t, "https://b.example/rules", promise) // where a's robots.txt redirects to: a's Crawl-delay is not b's
		away.Kind, away.Permission = frontier.Robots, l.Permission
		for range 2 {
			if err := g.once(away, 0, frontier.Outcome{Requested: true}, 200); err != nil {
				t.Error(err)
			}
			_ = rest(t.Context(), s)
		}
		if h := g.asked().Hosts[0]; h.CrawlDelayLine != 3 || h.AskedGapS != 7 || h.AskedFrom != "crawl_delay" || *h.SmallestGapS != 7 {
			t.Errorf("%+v, want 7 s by line 3", h)
		}
	})
}

// TestLedgerIsBounded asks more hosts than are kept: those that may be asked again and have few requests go into the
// totals, and nothing is counted twice or lost. What rows hold is what is kept.
func TestLedgerIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newLedger(frontier.Config{}, false)
		promise := frontier.Promise{Slots: 1, Delay: time.Second, HostDelay: time.Second}
		rows := map[string][]byte{}
		collect := func() {
			changed, err := g.rows()
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range changed {
				if rows[row.Key] = row.Value; row.Value == nil {
					delete(rows, row.Key)
				}
			}
		}
		busy, err := g.begin(page(t, "https://busy.example/", promise))
		if err != nil {
			t.Fatal(err)
		}
		const hosts = maxLedgerHosts + 5000
		for i := range hosts {
			if err := g.once(page(t, fmt.Sprintf("https://h%d.example/", i), promise), 0, frontier.Outcome{Requested: true}, 200); err != nil {
				t.Fatal(err)
			}
			if i%10_000 == 0 {
				_ = rest(t.Context(), time.Minute)
				collect()
			}
		}
		g.end(busy, requestEnd{Outcome: frontier.Outcome{Requested: true}, at: time.Now(), status: 200})
		collect()
		a := g.asked()
		total := a.Rest.Requests
		for _, h := range a.Hosts {
			total += h.Requests
		}
		if total != hosts+1 || len(a.Hosts) != maxLedgerHosts || a.Rest.Hosts != hosts+1-maxLedgerHosts {
			t.Errorf("%d requests, %d hosts kept and %d not; want %d, %d, %d", total, len(a.Hosts), a.Rest.Hosts, hosts+1, maxLedgerHosts, hosts+1-maxLedgerHosts)
		}
		if len(rows) != maxLedgerHosts+1 || rows["ledger/busy.example"] == nil {
			t.Errorf("%d rows, want those of the hosts kept and the totals", len(rows))
		}
		back := newLedger(frontier.Config{}, true)
		for key, value := range rows {
			if host, ok := strings.CutPrefix(key, ledgerPrefix); ok {
				err = errors.Join(err, back.restore(host, value))
			} else {
				err = errors.Join(err, back.restoreRest(value))
			}
		}
		if b := back.asked(); err != nil || len(b.Hosts) != len(a.Hosts) || b.Rest != a.Rest || !b.Hosts[0].LastAsked.Equal(a.Hosts[0].LastAsked) {
			t.Errorf("read back: %d hosts, %+v, %v", len(b.Hosts), b.Rest, err)
		}
	})
}

// BenchmarkLedger is what the ledger costs a request, over more hosts than it keeps.
func BenchmarkLedger(b *testing.B) {
	g := newLedger(frontier.Config{}, false)
	leases := make([]frontier.Lease, 2*maxLedgerHosts)
	for i := range leases {
		leases[i] = page(b, fmt.Sprintf("https://h%d.example/", i), frontier.Promise{Slots: 1})
	}
	i := 0
	for b.Loop() {
		l := leases[i%len(leases)]
		i++
		t, err := g.begin(l)
		if err != nil {
			b.Fatal(err)
		}
		g.end(t, requestEnd{Outcome: frontier.Outcome{Requested: true}, at: time.Now(), status: 200})
	}
}
