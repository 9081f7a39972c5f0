package frontier

import (
	"testing"
	"testing/synctest"
	"time"
)

// crawlDelay is a Permission that asks for a delay; zero for none.
type crawlDelay time.Duration

func (d crawlDelay) Delay() (time.Duration, bool) { return time.Duration(d), d > 0 }

func (crawlDelay) Size() int64 { return 0 }

const year = 365 * 24 * time.Hour

func TestDelay(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	for _, tt := range []struct {
		name   string
		cfg    Config
		robots crawlDelay
		took   time.Duration
		want   time.Duration // from the end of one request to the lease of the next
	}{
		{"default", Config{}, 0, 0, s},
		{"configured", Config{HostDelay: 5 * s}, 0, 0, 5 * s},
		{"none", Config{HostDelay: None}, 0, 0, 0},
		{"a slow host", Config{DelayFactor: 3}, 0, 4 * s, 12 * s},
		{"a fast host", Config{DelayFactor: 3}, 0, 10 * ms, s},
		{"none switches the factor off", Config{HostDelay: None, DelayFactor: 3}, 0, 4 * s, 0},
		{"no factor", Config{DelayFactor: None}, 0, 4 * s, s},
		{"Crawl-delay", Config{}, crawlDelay(7 * s), 0, 7 * s},
		{"a shorter Crawl-delay", Config{HostDelay: 9 * s}, crawlDelay(7 * s), 0, 9 * s},
		{"none does not switch Crawl-delay off", Config{HostDelay: None}, crawlDelay(7 * s), 0, 7 * s},
		{"Crawl-delay, capped", Config{MaxCrawlDelay: 3 * s}, crawlDelay(7 * s), 0, 3 * s},
		{"Crawl-delay, capped by default", Config{}, crawlDelay(year), 0, 2 * time.Minute},
		{"Crawl-delay, not granted", Config{MaxCrawlDelay: None}, crawlDelay(7 * s), 0, s},
		{"a response time that no request takes", Config{DelayFactor: 1000}, 0, 200 * year, time.Duration(forever)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := openFrontier(t, tt.cfg, "https://a.example/1", "https://a.example/2")
				must(t, f.Resolved(lease(t, f), loopback, year))
				must(t, f.Permit(lease(t, f), tt.robots, year, Outcome{}))
				l := leaseOf(t, f, Page, "https://a.example/1")
				wait(3 * s) // the delay runs from the end
				must(t, f.Done(l, Outcome{Requested: true, Took: tt.took}))
				h := f.hosts["a.example"]
				if got := f.notBefore(h) - f.now(); got != tt.want {
					t.Fatalf("due in %v, want %v", got, tt.want)
				}
				if tt.want < year {
					end := time.Now()
					if l := leasePage(t, f); l.LeasedAt.Sub(end) != tt.want {
						t.Errorf("leased after %v, want %v", l.LeasedAt.Sub(end), tt.want)
					}
				}
			})
		})
	}
}

func TestBackoff(t *testing.T) {
	const s = time.Second
	failed := Outcome{Requested: true, Failed: true}
	busy := func(retryAfter time.Duration) Outcome {
		return Outcome{Requested: true, Failed: true, RetryAfter: retryAfter}
	}
	for _, tt := range []struct {
		name string
		cfg  Config
		ends []Outcome
		want time.Duration // from the last end to the next lease
	}{
		{"first failure", Config{}, []Outcome{failed}, 2 * s},
		{"each doubles it", Config{}, []Outcome{failed, failed, failed}, 8 * s},
		{"up to a limit", Config{BackoffMax: 5 * s}, []Outcome{failed, failed, failed}, 5 * s},
		{"a success ends the series", Config{HostDelay: None}, []Outcome{failed, failed, answered, failed}, 2 * s},
		{"a page that is refused does not", Config{}, []Outcome{failed, failed, {}, failed}, 8 * s},
		{"the delay at half the rate is longer", Config{HostDelay: 3 * s}, []Outcome{failed}, 6 * s},
		{"no back-off", Config{BackoffBase: None, HostDelay: None}, []Outcome{failed, failed}, 0},
		{"a name that does not resolve counts", Config{}, []Outcome{{Failed: true}, {Failed: true}}, 4 * s},
		{"polite-03 Retry-After prevails", Config{}, []Outcome{busy(30 * s)}, 30 * s},
		{"polite-03 a shorter one does not", Config{}, []Outcome{failed, failed, busy(3 * s)}, 8 * s},
		{"polite-03 a year is capped", Config{MaxRetryAfter: 60 * s}, []Outcome{busy(year)}, 60 * s},
		{"polite-03 a negative one is none", Config{}, []Outcome{busy(-5 * s)}, 2 * s},
		{"Retry-After is not granted", Config{MaxRetryAfter: None}, []Outcome{busy(year)}, 2 * s},
		{"Retry-After with an answer", Config{}, []Outcome{{Requested: true, RetryAfter: 30 * s}}, 30 * s},
	} {
		for _, end := range []struct {
			name string
			call func(f *Frontier, l Lease, o Outcome) error
		}{
			{"done", func(f *Frontier, l Lease, o Outcome) error { return f.Done(l, o) }},
			{"retry", func(f *Frontier, l Lease, o Outcome) error { return f.Retry(l, 0, o) }},
			{"reroute", func(f *Frontier, l Lease, o Outcome) error { return f.Reroute(l, l.URL, o) }},
		} {
			t.Run(tt.name+"/"+end.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := openFrontier(t, tt.cfg, numbered("https://a.example/", 10)...)
					for _, o := range tt.ends {
						must(t, end.call(f, leasePage(t, f), o))
					}
					ended := time.Now()
					if l := leasePage(t, f); l.LeasedAt.Sub(ended) != tt.want {
						t.Errorf("leased after %v, want %v", l.LeasedAt.Sub(ended), tt.want)
					}
				})
			})
		}
	}
}

func TestBackoffNeverOverflows(t *testing.T) {
	f := Frontier{cfg: Config{BackoffBase: 2 * time.Second, BackoffMax: time.Duration(forever)}}
	last := time.Duration(0)
	for n := 1; n < 200; n++ {
		d := f.backoff(n)
		if d < last || d > time.Duration(forever) {
			t.Fatalf("back-off after %d failures is %v, after one less %v", n, d, last)
		}
		last = d
	}
}

// A page that is to be tried again stands aside: others of its host are not held up by it, but by the host's own back-off.
// When its time has come it is the first of its host.
func TestRetryStandsAside(t *testing.T) {
	for _, tt := range []struct {
		name   string
		failed bool
		order  []uint64        // the pages as they are leased
		at     []time.Duration // in milliseconds
	}{
		{"the page's fault", false, []uint64{2, 3, 4, 1, 5}, []time.Duration{1000, 2000, 3000, 4000, 5000}},
		// Its rate is half of the full one, and a 64th more with each answer.
		{"the host's fault", true, []uint64{2, 1, 3, 4, 5}, []time.Duration{2000, 3939, 5821, 7650, 9428}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := openFrontier(t, Config{IgnoreRobots: true}, numbered("https://a.example/", 5)...)
				first := leasePage(t, f)
				end := time.Now()
				must(t, f.Retry(first, 3500*time.Millisecond, Outcome{Requested: true, Failed: tt.failed}))
				for i, seq := range tt.order {
					check(t, f)
					l := leasePage(t, f)
					if after := time.Since(end); l.Seq != seq || after.Truncate(time.Millisecond) != tt.at[i]*time.Millisecond {
						t.Errorf("lease %d is of page %d after %v, want %d after %dms", i, l.Seq, after, seq, tt.at[i])
					}
					if want := end.Add(3500 * time.Millisecond); l.Seq == 1 && (l.Attempt != 1 || !l.NotBefore.Equal(want)) {
						t.Errorf("attempt %d, not before %v; want 1, %v", l.Attempt, l.NotBefore, want)
					}
					must(t, f.Done(l, answered))
				}
				drained(t, f)
			})
		})
	}
}

// With nothing else to do, the host is idle until the page may be tried again, and the crawl is not over.
func TestRetryAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{IgnoreRobots: true}, "https://a.example/1")
		l, end := leasePage(t, f), time.Now()
		must(t, f.Retry(l, time.Minute, Outcome{Requested: true}))
		check(t, f)
		if again := leasePage(t, f); again.Seq != 1 || time.Since(end) != time.Minute {
			t.Errorf("leased %d after %v, want 1 after 1m", again.Seq, time.Since(end))
		}
	})
}

func TestRetryOfAnEarlierRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{IgnoreRobots: true}, "https://a.example/1")
		start := time.Now()
		f.Add(Task{URL: parse(t, "https://a.example/2"), Seq: 2, Class: Sitemap, Attempt: 2, NotBefore: start.Add(time.Minute)})
		check(t, f)
		l := leasePage(t, f)
		if l.Seq != 1 || time.Since(start) != 0 {
			t.Errorf("leased %d after %v, want 1 at once", l.Seq, time.Since(start))
		}
		must(t, f.Done(l, answered))
		l = leasePage(t, f)
		if l.Seq != 2 || l.Attempt != 2 || l.LeasedAt.Sub(start) != time.Minute {
			t.Errorf("leased %d, attempt %d, after %v; want 2, 2, 1m", l.Seq, l.Attempt, l.LeasedAt.Sub(start))
		}
	})
}

func TestGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{GiveUpAfter: 3}, numbered("https://a.example/", 5)...)
		f.Add(Task{URL: parse(t, "https://b.example/"), Seq: 6})
		for range 3 {
			l := leasePage(t, f)
			for l.URL.Host() != "a.example" {
				must(t, f.Done(l, answered))
				l = leasePage(t, f)
			}
			must(t, f.Retry(l, 0, Outcome{Requested: true, Failed: true}))
		}
		drained(t, f)
		f.Add(Task{URL: parse(t, "https://a.example/7"), Seq: 7})
		drained(t, f)
		if s := f.Stats(); s.Queued != 6 || s.Stranded != 6 || s.HostsGivenUp != 1 {
			t.Errorf("%+v, want 6 tasks stranded on 1 host", s)
		}
		f.Revive("a.example")
		if l := leasePage(t, f); l.Seq != 1 || l.Attempt != 3 {
			t.Errorf("leased %d, attempt %d after the revival; want 1, 3", l.Seq, l.Attempt)
		}
		if s := f.Stats(); s.Stranded != 0 || s.HostsGivenUp != 0 {
			t.Errorf("%+v, want nothing stranded", s)
		}
	})
}

func TestNeverGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{GiveUpAfter: None}, "https://a.example/")
		for range 50 {
			must(t, f.Retry(leasePage(t, f), 0, Outcome{Requested: true, Failed: true}))
		}
		leasePage(t, f)
	})
}

// TestSuccessInFlightRevives has two requests in flight when a host is given up; one gets through.
func TestSuccessInFlightRevives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: None, HostConcurrency: 2, GiveUpAfter: 1}, numbered("https://a.example/", 3)...)
		first, second := leasePage(t, f), leasePage(t, f)
		must(t, f.Retry(first, 0, Outcome{Requested: true, Failed: true}))
		if s := f.Stats(); s.Stranded != 2 {
			t.Errorf("%d stranded, want 2", s.Stranded)
		}
		check(t, f)
		must(t, f.Done(second, answered))
		if l := leasePage(t, f); l.Seq != 1 {
			t.Errorf("leased %d, want 1", l.Seq)
		}
	})
}
