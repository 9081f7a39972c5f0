package frontier

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// addressOf is the address of a host in these tests: its first label is the last byte's value as a letter. The https pages
// of s.example are at another one.
func addressOf(l Lease) []netip.AddrPort {
	last := l.URL.Host()[0]
	if strings.HasPrefix(l.URL.Host(), "s.") && isHTTPS(l.URL) == 1 {
		last = 0
	}
	return []netip.AddrPort{
		netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, last}), 80),
		netip.MustParseAddrPort("10.1.1.1:80"), // which all have, and is not dialled first
	}
}

// visits leases and ends all there is, one after the other, each request taking that long, and returns when each page was
// leased, as "host second".
func visits(t *testing.T, f *Frontier, took time.Duration) (got []string) {
	t.Helper()
	start := time.Now()
	for {
		l, err := f.Lease(t.Context())
		check(t, f)
		if err == ErrDrained {
			return got
		}
		must(t, err)
		switch l.Kind {
		case Resolve:
			must(t, f.Resolved(l, addressOf(l), year))
		case Robots:
			must(t, f.Permit(l, nil, year, Outcome{}))
		case Page:
			got = append(got, fmt.Sprintf("%s %v", l.URL.Host(), l.LeasedAt.Sub(start).Seconds()))
			wait(took)
			must(t, f.Done(l, answered))
		}
	}
}

// leaseRequest returns the next lease that is one for a request, and resolves names until it comes.
func leaseRequest(t *testing.T, f *Frontier) Lease {
	t.Helper()
	for {
		l := lease(t, f)
		if l.Kind != Resolve {
			return l
		}
		must(t, f.Resolved(l, addressOf(l), year))
	}
}

func TestHostsShareAnAddress(t *testing.T) {
	slow, none := 5*time.Second, time.Duration(0)
	for _, tt := range []struct {
		name string
		cfg  Config
		urls []string
		want []string
	}{
		{"off", Config{}, []string{"https://a.x/", "https://a.y/", "https://a.x/2", "https://a.y/2"},
			[]string{"a.x 0", "a.y 0", "a.x 1", "a.y 1"}},
		{"two hosts", Config{PerIP: true}, []string{"https://a.x/", "https://a.y/", "https://a.x/2", "https://a.y/2"},
			[]string{"a.x 0", "a.y 1", "a.x 2", "a.y 3"}},
		{"two addresses", Config{PerIP: true}, []string{"https://a.x/", "https://b.y/", "https://a.x/2", "https://b.y/2"},
			[]string{"a.x 0", "b.y 0", "a.x 1", "b.y 1"}},
		{"the greater delay of two", Config{PerIP: true, Overrides: []Override{{Pattern: "a.y", HostDelay: &slow}}},
			[]string{"https://a.x/", "https://a.y/", "https://a.z/", "https://a.x/2", "https://a.y/2"},
			[]string{"a.x 0", "a.y 5", "a.z 10", "a.x 11", "a.y 16"}},
		{"none at all", Config{PerIP: true, HostDelay: None, Overrides: []Override{{Pattern: "b.x", HostDelay: &none}}},
			[]string{"https://a.x/", "https://a.y/"}, []string{"a.x 0", "a.y 0"}},
		{"a scheme at another address", Config{PerIP: true}, []string{"https://s.x/", "http://s.y/", "http://s.z/"},
			[]string{"s.x 0", "s.y 0", "s.z 1"}},
		{"a host at two addresses", Config{PerIP: true}, []string{"https://s.x/", "http://s.x/", "http://s.y/"},
			[]string{"s.x 0", "s.y 0", "s.x 1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tt.cfg.DelayFactor, tt.cfg.IgnoreRobots = None, true
				if got := visits(t, openFrontier(t, tt.cfg, tt.urls...), 0); !slices.Equal(got, tt.want) {
					t.Errorf("got  %q\nwant %q", got, tt.want)
				}
			})
		})
	}
}

// TestAddressConcurrency has twenty fetchers at three hosts of one address: two requests are in flight at a time, those for
// robots.txt included, and each starts a delay after the end of the last.
func TestAddressConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var urls []string
		for i := range 12 {
			urls = append(urls, fmt.Sprintf("https://a.%c/%d", 'x'+i%3, i))
		}
		f := openFrontier(t, Config{PerIP: true, HostConcurrency: 2, DelayFactor: None}, urls...)
		inFlight, most, requests := 0, 0, 0
		var ends []time.Time
		fetchers := make(chan struct{}, 20)
		step := make(chan func(), 20)
		for range 20 {
			go func() {
				defer func() { fetchers <- struct{}{} }()
				for {
					l, err := f.Lease(t.Context())
					if err != nil {
						return
					}
					if l.Kind == Resolve {
						must(t, f.Resolved(l, addressOf(l), year))
						continue
					}
					step <- func() { inFlight++; requests++; most = max(most, inFlight) }
					wait(10 * time.Second)
					step <- func() { inFlight--; ends = append(ends, time.Now()) }
					if l.Kind == Robots {
						must(t, f.Permit(l, nil, year, answered))
					} else {
						must(t, f.Done(l, answered))
					}
				}
			}()
		}
		start := time.Now()
		for ended := 0; ended < 20; {
			select {
			case do := <-step:
				do()
			case <-fetchers:
				ended++
			}
		}
		if most != 2 || requests != 12+3 {
			t.Errorf("%d in flight at once, %d requests, want 2 and 15", most, requests)
		}
		if took := time.Since(start); took < 75*time.Second || took > 90*time.Second {
			t.Errorf("took %v, want both slots in use", took)
		}
	})
}

// TestNobodyStarvesAtAnAddress: hosts of one address take turns, whatever their size, and another address is not held up.
func TestNobodyStarvesAtAnAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts, pages = 20, 10
		var urls []string
		urls = append(urls, numbered("https://a.huge/", 1000)...)
		for i := range hosts {
			urls = append(urls, numbered(fmt.Sprintf("https://a.h%d.x/", i+1), pages)...)
		}
		urls = append(urls, numbered("https://b.other/", 50)...)
		f := openFrontier(t, Config{PerIP: true, DelayFactor: None, IgnoreRobots: true}, urls...)
		got := visits(t, f, 0)
		for round := range pages {
			seen := map[string]bool{}
			for _, v := range got {
				host, at, _ := strings.Cut(v, " ")
				var s float64
				fmt.Sscan(at, &s)
				if host != "b.other" && int(s)/(hosts+1) == round {
					seen[host] = true
				}
			}
			if len(seen) != hosts+1 {
				t.Errorf("round %d: %d hosts had a turn, want all %d", round, len(seen), hosts+1)
			}
		}
		if !slices.Contains(got, "b.other 49") {
			t.Error("a host at another address had to wait")
		}
	})
}

// TestWaitsOfAHostAreItsOwn: neither a back-off nor Retry-After holds up others at the address.
func TestWaitsOfAHostAreItsOwn(t *testing.T) {
	for _, tt := range []struct {
		o     Outcome
		other string // when another host may be asked: after the greater delay of the two
	}{{Outcome{Requested: true, Failed: true}, "a.y 2s"}, {Outcome{Requested: true, RetryAfter: time.Minute}, "a.y 1s"}} {
		synctest.Test(t, func(t *testing.T) {
			f := openFrontier(t, Config{PerIP: true, IgnoreRobots: true, BackoffBase: time.Minute}, "https://a.x/", "https://a.x/2", "https://a.y/")
			start := time.Now()
			for i, want := range []string{"a.x 0s", tt.other, "a.x 1m0s"} {
				l := leaseRequest(t, f)
				if got := fmt.Sprint(l.URL.Host(), " ", time.Since(start)); got != want {
					t.Errorf("lease %d: %s, want %s", i, got, want)
				}
				must(t, f.Done(l, tt.o))
				tt.o = answered
			}
		})
	}
}

// TestUnusedLeaseCostsAnAddressNothing: of a lease that is given back no delay comes, for others as little as for its host.
func TestUnusedLeaseCostsAnAddressNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{PerIP: true, IgnoreRobots: true}, "https://a.x/", "https://a.y/")
		start := time.Now()
		first := leaseRequest(t, f)
		noLease(t, f, 100*time.Millisecond) // it is in flight
		must(t, f.Done(first, Outcome{}))
		must(t, f.Done(leaseRequest(t, f), answered))
		if got := time.Since(start); got != 100*time.Millisecond {
			t.Errorf("the second was leased after %v, want it as soon as the first was given back", got)
		}
	})
}

func TestAddressIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{PerIP: true, IgnoreRobots: true, MaxIdleHosts: None, HostDelay: time.Minute})
		visit := func(i int) {
			f.Add(Task{URL: parse(t, fmt.Sprintf("https://h%d.x/", i)), Seq: uint64(i)})
			l := lease(t, f)
			ip := netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
			must(t, f.Resolved(l, []netip.AddrPort{netip.AddrPortFrom(ip, 443)}, year))
			must(t, f.Done(lease(t, f), answered))
		}
		for i := range 100 {
			visit(i + 1)
		}
		if n := len(f.addresses.byIP); n != 100 {
			t.Errorf("%d addresses are known, want all while their delay lasts", n)
		}
		for i := range 100 {
			wait(2 * time.Minute)
			visit(i + 101)
		}
		if n := len(f.addresses.byIP); n > 5 {
			t.Errorf("%d addresses are known, want a few", n)
		}
	})
}

// TestAddressAfterRestart: nobody is asked before its delay since then, and not at once with others at its address.
func TestAddressAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{PerIP: true, IgnoreRobots: true, DelayFactor: None, Resumed: true}, "https://a.x/", "https://a.y/", "https://a.z/")
		for i, got := range visits(t, f, 0) {
			if want := fmt.Sprint(" ", i+1); !strings.HasSuffix(got, want) {
				t.Errorf("lease %d: %s, want it at%s", i, got, want)
			}
		}
	})
}

// TestAddressOfMostHosts: where memory is full of hosts of one address, the others come in all the same.
func TestAddressOfMostHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const shared, others = 100, 30
		states := map[string]HostState{}
		p := newPile(t, Config{PerIP: true, HostDelay: 30 * time.Second, DelayFactor: None, IgnoreRobots: true, MaxHosts: 40, MaxIdleHosts: 10, MaxTasks: 2000, Lookup: lookup(states)})
		seq := uint64(0)
		add := func(format string, n int) {
			for i := range n {
				for j := range 5 {
					seq++
					p.add(Task{URL: parse(t, fmt.Sprintf(format+"/%d", i, j)), Seq: seq, Class: Navigation})
				}
			}
		}
		add("https://a%d.x", shared)
		add("https://b%d.x", others)
		start, ended := time.Now(), 0
		var last time.Duration
		p.crawl(func(l Lease) {
			if ended++; l.URL.Host()[0] == 'b' {
				last = time.Since(start)
			}
			must(t, p.f.Done(l, answered))
		}, func(l Lease) []netip.AddrPort {
			ip := netip.AddrFrom4([4]byte{10, 0, 0, 1})
			if host := l.URL.Host(); host[0] == 'b' {
				ip = netip.AddrFrom4([4]byte{10, 0, 1, byte(len(host) * int(host[1]+host[2]))})
			}
			return []netip.AddrPort{netip.AddrPortFrom(ip, 443)}
		})
		if ended != int(seq) {
			t.Errorf("%d tasks ended, want %d", ended, seq)
		}
		if took := time.Since(start); took < (shared*5-1)*30*time.Second || last > took/2 {
			t.Errorf("the others took %v of %v", last, took)
		}
		t.Logf("the others took %v of %v, %d sweeps", last, time.Since(start), p.sweeps)
	})
}

// TestLeastConcurrencyAtAnAddress: no more requests are in flight than each of the hosts asked stands.
func TestLeastConcurrencyAtAnAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{PerIP: true, HostDelay: None, IgnoreRobots: true, HostConcurrency: 3, Overrides: []Override{
			{Pattern: "a.one", HostConcurrency: new(1)}, {Pattern: "a.two", HostConcurrency: new(2)},
		}}, "https://a.v/", "https://a.two/", "https://a.w/", "https://a.x/", "https://a.one/", "https://a.y/", "https://a.z/", "https://a.z/2")
		next := func(url string) Lease {
			l := leaseRequest(t, f)
			if l.URL.String() != url {
				t.Fatalf("leased %s, want %s", l.URL, url)
			}
			return l
		}
		end := func(l Lease) {
			noLease(t, f, time.Minute) // until it ends; nobody overtakes
			must(t, f.Done(l, answered))
		}
		v, two := next("https://a.v/"), next("https://a.two/")
		end(v) // two stands one more
		w := next("https://a.w/")
		end(two) // and now its word is still kept
		x := next("https://a.x/")
		end(w)
		end(x)
		end(next("https://a.one/"))                                        // alone
		for _, l := range []Lease{lease(t, f), lease(t, f), lease(t, f)} { // these stand three
			must(t, f.Done(l, answered))
		}
		drained(t, f)
	})
}

// TestCrawlDelayIsNotShared: a site's Crawl-delay is its word about itself. Those beside it on its address wait no longer
// than host_delay.
func TestCrawlDelayIsNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{PerIP: true, DelayFactor: None}, "https://a.x/1", "https://a.x/2", "https://a.y/1", "https://a.y/2", "https://a.y/3")
		var got []string
		start := time.Now()
		for range 7 {
			l := leaseRequest(t, f)
			got = append(got, fmt.Sprintf("%s %s %v", l.Kind, l.URL.Host(), l.LeasedAt.Sub(start).Seconds()))
			switch {
			case l.Kind == Page:
				must(t, f.Done(l, answered))
			case l.URL.Host() == "a.x":
				must(t, f.Permit(l, crawlDelay(20*time.Second), year, answered))
			default:
				must(t, f.Permit(l, nil, year, answered))
			}
		}
		want := []string{"robots a.x 0", "robots a.y 1", "page a.y 2", "page a.y 3", "page a.y 4", "page a.x 20", "page a.x 40"}
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}
