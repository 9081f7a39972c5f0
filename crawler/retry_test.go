package crawler_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"crawl/canon"
	"crawl/crawler"
	"crawl/fetch"
	"crawl/frontier"
	"crawl/store"
)

// failing is a Fetcher whose requests fail as they are told, in their order; the last one goes on. It notes when it was
// asked.
type failing struct {
	ends []ending

	mu sync.Mutex // guards at
	at []time.Time
}

// ending is how a request ends: without an answer in a phase, with a status, or with a body that is cut.
type ending struct {
	phase  fetch.Phase
	err    error
	status int
	cut    fetch.Truncation
	after  string // Retry-After
}

func (f *failing) Resolve(_ context.Context, u canon.URL) (fetch.Resolution, error) {
	if e := f.next(false); e.phase == fetch.PhaseResolve {
		f.next(true)
		return fetch.Resolution{}, e.failure(u)
	}
	return fetch.Resolution{}, nil
}

func (f *failing) Fetch(_ context.Context, r fetch.Request) (*fetch.Result, error) {
	e := f.next(true)
	if e.err != nil {
		return nil, e.failure(r.URL)
	}
	header := http.Header{}
	if e.after != "" {
		header.Set("Retry-After", e.after)
	}
	return &fetch.Result{URL: r.URL, Status: e.status, Header: header, Truncated: e.cut}, nil
}

// next returns how the next request ends, which taken says begins now.
func (f *failing) next(taken bool) ending {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.ends[min(len(f.at), len(f.ends)-1)]
	if taken {
		f.at = append(f.at, time.Now())
	}
	return e
}

func (e ending) failure(u canon.URL) error {
	transient := true
	for _, final := range []error{errUntrusted, errNoName} {
		transient = transient && e.err != final
	}
	return &fetch.Error{URL: u, Phase: e.phase, Transient: transient, Err: e.err}
}

func (f *failing) Close() error { return nil }

// waits returns the times between requests.
func (f *failing) waits() []time.Duration {
	var waits []time.Duration
	for i := 1; i < len(f.at); i++ {
		waits = append(waits, f.at[i].Sub(f.at[i-1]))
	}
	return waits
}

var (
	errUntrusted = error(x509.UnknownAuthorityError{})
	errNoName    = error(&net.DNSError{Err: "no such host", IsNotFound: true})
	errSilent    = error(&net.DNSError{Err: "timeout", IsTimeout: true})
)

const (
	s10  = 10 * time.Second
	s20  = 20 * time.Second
	s30  = 30 * time.Second
	s40  = 40 * time.Second
	min1 = time.Minute
	min2 = 2 * time.Minute
)

// Each kind of failure is tried again as often, and after as long, as its class says; a page that fails for good has one
// record, of its last attempt.
func TestRetriesByClass(t *testing.T) {
	resetBy := ending{phase: fetch.PhaseHead, err: syscall.ECONNRESET}
	plain := []time.Duration{s10, s20, s40}
	slow := []time.Duration{s30, min1, min2}
	rule := func(class crawler.RetryClass, r crawler.RetryRule) func(*crawler.Config) {
		return func(c *crawler.Config) { c.Retry = map[crawler.RetryClass]crawler.RetryRule{class: r} }
	}
	for _, tt := range []struct {
		name    string
		ends    []ending
		set     func(*crawler.Config)
		want    []time.Duration
		outcome store.Outcome
	}{
		{"dns", []ending{{phase: fetch.PhaseResolve, err: errSilent}}, nil, []time.Duration{s30, min1}, store.OutcomeFailed},
		{"dial", []ending{{phase: fetch.PhaseDial, err: syscall.ECONNREFUSED}}, nil, plain, store.OutcomeFailed},
		{"dial that takes too long", []ending{{phase: fetch.PhaseDial, err: os.ErrDeadlineExceeded}},
			rule(crawler.RetryDial, crawler.RetryRule{Delay: new(min1)}), []time.Duration{min1, min2, 2 * min2}, store.OutcomeFailed},
		{"tls", []ending{{phase: fetch.PhaseTLS, err: syscall.ECONNRESET}},
			rule(crawler.RetryTLS, crawler.RetryRule{Retries: new(1)}), []time.Duration{s10}, store.OutcomeFailed},
		{"timeout", []ending{{phase: fetch.PhaseHead, err: os.ErrDeadlineExceeded}},
			rule(crawler.RetryTimeout, crawler.RetryRule{Retries: new(2), Delay: new(s20)}), []time.Duration{s20, s40}, store.OutcomeFailed},
		{"reset", []ending{resetBy}, nil, plain, store.OutcomeFailed},
		{"body cut by the peer", []ending{{status: 200, cut: fetch.TruncatedDisconnect}},
			rule(crawler.RetryReset, crawler.RetryRule{Retries: new(1)}), []time.Duration{s10}, store.OutcomeTruncated},
		{"body cut by time", []ending{{status: 200, cut: fetch.TruncatedTime}},
			rule(crawler.RetryTimeout, crawler.RetryRule{Retries: new(1)}), []time.Duration{s10}, store.OutcomeTruncated},
		{"body cut by our limit", []ending{{status: 200, cut: fetch.TruncatedLength}}, nil, nil, store.OutcomeTruncated},
		{"429", []ending{{status: 429}}, nil, slow, store.OutcomeServerError},
		{"503", []ending{{status: 503}}, nil, slow, store.OutcomeServerError},
		{"503 that asks for more", []ending{{status: 503, after: "300"}, {status: 200}}, nil, []time.Duration{5 * time.Minute}, store.OutcomeOK},
		{"503 that asks for less", []ending{{status: 503, after: "1"}, {status: 200}}, nil, []time.Duration{s30}, store.OutcomeOK},
		{"500", []ending{{status: 500}}, nil, plain, store.OutcomeServerError},
		{"502 of a class that is not tried again", []ending{{status: 502}},
			rule(crawler.RetryStatus5xx, crawler.RetryRule{Retries: new(0)}), nil, store.OutcomeServerError},
		{"a rule of another class", []ending{{status: 500}},
			rule(crawler.RetryStatus503, crawler.RetryRule{Retries: new(0)}), plain, store.OutcomeServerError},
		{"more for one class than in general", []ending{{status: 503}}, func(c *crawler.Config) {
			c.Retries = 0
			rule(crawler.RetryStatus503, crawler.RetryRule{Retries: new(1), Delay: new(s10)})(c)
		}, []time.Duration{s10}, store.OutcomeServerError},
		{"general settings steer all classes", []ending{{phase: fetch.PhaseResolve, err: errSilent}},
			func(c *crawler.Config) { c.Retries, c.RetryDelay = 1, s20 }, []time.Duration{min1}, store.OutcomeFailed},
		{"no retries at all", []ending{{status: 503}}, func(c *crawler.Config) { c.Retries = 0 }, nil, store.OutcomeServerError},
		{"a wait is a day at most", []ending{{status: 500}}, func(c *crawler.Config) { c.RetryDelay = 10 * time.Hour },
			[]time.Duration{10 * time.Hour, 20 * time.Hour, 24 * time.Hour}, store.OutcomeServerError},
		{"attempts count whatever they failed of", []ending{{status: 500}, {status: 500}, {phase: fetch.PhaseResolve, err: errSilent}},
			nil, []time.Duration{s10, s20}, store.OutcomeFailed},
		{"heals", []ending{resetBy, {status: 500}, {status: 200}}, nil, []time.Duration{s10, s20}, store.OutcomeOK},
		{"no such name", []ending{{phase: fetch.PhaseResolve, err: errNoName}}, nil, nil, store.OutcomeFailed},
		{"no trust", []ending{{phase: fetch.PhaseTLS, err: errUntrusted}}, nil, nil, store.OutcomeFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				cfg, f := failingConfig(tt.ends...)
				if tt.set != nil {
					tt.set(&cfg)
				}
				c, err := crawler.Create(dir, cfg, seeds("http://a.test/"))
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(c.Run(t.Context()), c.Close()); err != nil {
					t.Fatal(err)
				}
				if got := f.waits(); !slices.Equal(got, tt.want) {
					t.Errorf("tried again after %v, want %v", got, tt.want)
				}
			})
			pages := records(t, dir)
			if len(pages) != 1 || pages[0].Outcome != tt.outcome {
				t.Errorf("%d records, the first %+v; want one, %s", len(pages), pages[0], tt.outcome)
			}
		})
	}
}

// failingConfig asks at once and gives no host up, so that only retries wait.
func failingConfig(ends ...ending) (crawler.Config, *failing) {
	f := &failing{ends: ends}
	cfg := crawler.DefaultConfig()
	cfg.Fetcher, cfg.CheckpointInterval = f, time.Hour
	cfg.Frontier.HostDelay, cfg.Frontier.IgnoreRobots, cfg.Frontier.GiveUpAfter = frontier.None, true, frontier.None
	return cfg, f
}

// A wait that its class asked for outlives the process, and so does the number of attempts.
func TestRetryClassOutlivesTheProcess(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		cfg, f := failingConfig(ending{status: 503})
		cfg.Frontier.BackoffMax = 2 * time.Second // shorter than the wait
		c, err := crawler.Create(dir, cfg, seeds("http://a.test/"))
		if err != nil {
			t.Fatal(err)
		}
		for attempts := 1; ; attempts++ {
			ctx, cancel := context.WithTimeout(t.Context(), s10) // in the midst of the wait
			err := c.Run(ctx)
			cancel()
			if failure := c.Close(); failure != nil {
				t.Fatal(failure)
			}
			if err == nil {
				break
			}
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			if c, err = crawler.Open(dir, func(stored *crawler.Config) { stored.Fetcher = f }); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := f.waits(), []time.Duration{s30, min1, min2}; !slices.Equal(got, want) {
			t.Errorf("tried again after %v, want %v", got, want)
		}
	})
}

func TestRetryRulesAreJudged(t *testing.T) {
	cfg := crawler.DefaultConfig()
	cfg.RetryDelay = 25 * time.Hour
	cfg.Retry = map[crawler.RetryClass]crawler.RetryRule{
		"dns":     {Retries: new(101)},
		"timeout": {Delay: new(-time.Second)},
		"weather": {},
	}
	err := cfg.Validate()
	for _, want := range []string{
		"retry_delay: want 0 to 24h0m0s, got 25h0m0s", "retry: dns: retries: want 0 to 100, got 101",
		"retry: timeout: delay: want 0 to 24h0m0s, got -1s", fmt.Sprintf("retry: want one of %v, got %q", crawler.RetryClasses(), "weather"),
	} {
		if err == nil || !mentions(want)(err) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
}
