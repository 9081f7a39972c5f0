package frontier

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestChanged(t *testing.T) {
	const s = time.Second
	failed := Outcome{Requested: true, Failed: true}
	for _, tt := range []struct {
		name   string
		cfg    Config
		robots crawlDelay
		ends   []Outcome
		want   HostState // Until as the time from now
		until  time.Duration
	}{
		{"a host in good order has no state", Config{}, 0, []Outcome{answered, answered}, HostState{}, 0},
		{"a failure", Config{}, 0, []Outcome{failed}, HostState{Failures: 1, Requests: 1, Eased: 32}, 2 * s},
		{"three", Config{}, 0, []Outcome{failed, failed, failed}, HostState{Failures: 3, Requests: 3, Eased: 32}, 8 * s},
		{"one that passed", Config{}, 0, []Outcome{failed, answered}, HostState{Requests: 2, Eased: 31}, 0},
		{"one that passed long ago", Config{}, 0, append([]Outcome{failed}, many(32)...), HostState{}, 0},
		{"one that passed, without a delay", Config{HostDelay: None}, 0, []Outcome{failed, answered}, HostState{}, 0},
		{"too many", Config{GiveUpAfter: 2}, 0, []Outcome{failed, failed}, HostState{Failures: 2, GivenUp: TooManyFailures, Requests: 2, Eased: 32}, 4 * s},
		{"Retry-After", Config{}, 0, []Outcome{{Requested: true, RetryAfter: 50 * s}}, HostState{Requests: 1}, 50 * s},
		{"Crawl-delay", Config{}, crawlDelay(9 * s), nil, HostState{Delay: 16 * s}, 0},
		{"Crawl-delay below the configured one", Config{HostDelay: 10 * s}, crawlDelay(9 * s), nil, HostState{}, 0},
		{"a slow host", Config{}, 0, []Outcome{{Requested: true, Took: 3 * s}}, HostState{Delay: 4 * s, Requests: 1}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := openFrontier(t, tt.cfg, numbered("https://a.example/", 33)...)
				resolve(t, f, "https://a.example/1")
				must(t, f.Permit(lease(t, f), tt.robots, year, Outcome{}))
				for _, o := range tt.ends {
					must(t, f.Done(leasePage(t, f), o))
				}
				got := f.Changed()
				if tt.want.IsZero() && tt.until == 0 {
					if len(got) != 0 {
						t.Errorf("changed: %+v, want nothing", got)
					}
					return
				}
				tt.want.Host = "a.example"
				if tt.until > 0 {
					tt.want.Until = time.Now().Add(tt.until).Round(0)
					if unsaved, _ := f.Unsaved(); !unsaved.IsZero() {
						t.Errorf("unsaved until %v after Changed", unsaved)
					}
				}
				if len(got) != 1 || got[0] != tt.want {
					t.Errorf("changed: %+v, want %+v", got, tt.want)
				}
				if again := f.Changed(); len(again) != 0 {
					t.Errorf("changed again: %+v", again)
				}
			})
		})
	}
}

// many are answers to so many pages.
func many(n int) []Outcome { return slices.Repeat([]Outcome{answered}, n) }

func TestStateIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{}, numbered("https://a.example/", 33)...)
		must(t, f.Done(leasePage(t, f), Outcome{Requested: true, Failed: true}))
		f.Changed()
		for range 32 { // the rate is the full one again
			must(t, f.Done(leasePage(t, f), answered))
		}
		got := f.Changed()
		if len(got) != 1 || !got[0].IsZero() || got[0].Host != "a.example" {
			t.Errorf("changed: %+v, want the zero state of a.example", got)
		}
	})
}

func TestUnsaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{}, "https://a.example/1", "https://b.example/2", "https://c.example/3", "https://d.example/4")
		never := func(when string) {
			if latest, asked := f.Unsaved(); !latest.IsZero() || !asked.IsZero() {
				t.Errorf("%s: unsaved until %v, asked for until %v, want never", when, latest, asked)
			}
		}
		never("before all")
		must(t, f.Done(leasePage(t, f), Outcome{Requested: true, Failed: true, RetryAfter: time.Minute}))
		must(t, f.Done(leasePage(t, f), Outcome{Requested: true, Failed: true}))
		latest, asked := f.Unsaved()
		if want := time.Now().Add(time.Minute); !latest.Equal(want) || !asked.Equal(want) {
			t.Errorf("unsaved until %v, asked for until %v, want %v", latest, asked, want)
		}
		f.Changed()
		never("after Changed")
		must(t, f.Done(leasePage(t, f), Outcome{Requested: true, Failed: true}))
		if latest, asked := f.Unsaved(); latest.IsZero() || !asked.IsZero() {
			t.Errorf("of a back-off: unsaved until %v, asked for until %v", latest, asked)
		}
		f.Changed()
		must(t, f.Done(leasePage(t, f), Outcome{Requested: true, RetryAfter: time.Nanosecond})) // less than its delay
		if _, asked := f.Unsaved(); !asked.IsZero() {
			t.Errorf("asked for until %v, want never", asked)
		}
	})
}

// lookup finds the states of hosts that are not the zero state.
func lookup(states map[string]HostState) func(string) (HostState, bool) {
	return func(host string) (HostState, bool) {
		s, ok := states[host]
		return s, ok && !s.IsZero()
	}
}

func TestRestore(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name  string
		cfg   Config
		state HostState // Until as set by until
		until time.Duration
		want  time.Duration // from New to the first request; negative: given up
	}{
		{"a fresh crawl starts at once", Config{}, HostState{}, 0, 0},
		{"a resumed one waits the delay", Config{Resumed: true, HostDelay: 3 * s}, HostState{}, 0, 3 * s},
		{"and the host's own", Config{Resumed: true}, HostState{Delay: 16 * s}, 0, 16 * s},
		{"and its rate", Config{Resumed: true}, HostState{Eased: 32}, 0, 2 * s},
		{"which has a floor", Config{Resumed: true}, HostState{Eased: 200}, 0, 16 * s},
		{"and a back-off", Config{Resumed: true}, HostState{Failures: 3}, 40 * s, 40 * s},
		{"but no back-off of the past", Config{Resumed: true}, HostState{Failures: 3}, -40 * s, s},
		{"nor one from a wrong clock", Config{Resumed: true}, HostState{Failures: 3}, year, time.Hour},
		{"given up", Config{Resumed: true}, HostState{Failures: 10, GivenUp: TooManyFailures}, 0, -1},
		{"a higher limit revives", Config{Resumed: true, GiveUpAfter: 20}, HostState{Failures: 10, GivenUp: TooManyFailures}, 0, s},
		{"no limit revives", Config{Resumed: true, GiveUpAfter: None}, HostState{Failures: 10, GivenUp: TooManyFailures}, 0, s},
		{"but not what the user dropped", Config{Resumed: true, GiveUpAfter: None}, HostState{GivenUp: "dropped"}, 0, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				state := tt.state
				state.Host = "a.example"
				if tt.until != 0 {
					state.Until = start.Add(tt.until).Round(0)
				}
				tt.cfg.Lookup = lookup(map[string]HostState{state.Host: state})
				f := openFrontier(t, tt.cfg)
				if state.GivenUp != "" {
					f.Begin(Kept{HostsGivenUp: 1})
				}
				f.Add(Task{URL: parse(t, "https://a.example/1"), Seq: 1})
				check(t, f)
				if tt.want < 0 {
					drained(t, f)
					return
				}
				if l := leasePage(t, f); l.LeasedAt.Sub(start) != tt.want {
					t.Errorf("leased after %v, want %v", l.LeasedAt.Sub(start), tt.want)
				}
			})
		})
	}
}

// TestRestoredFailuresGoOn doubles the back-off from where it was.
func TestRestoredFailuresGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := HostState{Host: "a.example", Failures: 3, Requests: 7}
		f := openFrontier(t, Config{Resumed: true, Lookup: lookup(map[string]HostState{before.Host: before})})
		f.Add(Task{URL: parse(t, "https://a.example/1"), Seq: 1})
		must(t, f.Retry(leasePage(t, f), 0, Outcome{Requested: true, Failed: true}))
		want := HostState{Host: "a.example", Failures: 4, Requests: 8, Eased: 32, Until: time.Now().Add(16 * time.Second).Round(0)}
		if got := f.Changed(); len(got) != 1 || got[0] != want {
			t.Errorf("changed: %+v, want %+v", got, want)
		}
	})
}

// TestForgettingHosts keeps the number of hosts without work near its cap, and no host that must wait is forgotten.
func TestForgettingHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const kept, hosts = 10, 100
		states := map[string]HostState{}
		f := openFrontier(t, Config{MaxIdleHosts: kept, GiveUpAfter: 1, Lookup: lookup(states)})
		save := func() {
			for _, s := range f.Changed() {
				if states[s.Host] = s; s.IsZero() {
					delete(states, s.Host)
				}
			}
		}
		visit := func(i int, o Outcome) {
			f.Add(Task{URL: parse(t, fmt.Sprintf("https://%d.example/", i)), Seq: uint64(i)})
			must(t, f.Done(leasePage(t, f), o))
			check(t, f)
		}
		for i := range hosts {
			visit(i, Outcome{Requested: true, Failed: i%2 == 0})
			save()
		}
		if s := f.Stats(); s.Hosts != hosts || s.HostsGivenUp != hosts/2 {
			t.Errorf("%+v, want all hosts remembered while they must wait", s)
		}
		if len(states) != hosts/2 {
			t.Errorf("%d states, want %d", len(states), hosts/2)
		}
		wait(time.Hour)
		f.GiveUp("0.example", "dropped") // the caller's word is kept, whatever the cap
		for i := range hosts {
			visit(hosts+i, answered)
			wait(2 * time.Second)
			save()
		}
		if s := f.Stats(); s.Hosts > kept+3 || s.HostsIdle > kept+2 || s.HostsGivenUp != hosts/2 {
			t.Errorf("%+v, want %d hosts or so, and those given up counted", s, kept)
		}
		if len(states) != hosts/2 || states["0.example"].GivenUp != "dropped" {
			t.Errorf("%d states, want those of the %d hosts given up kept", len(states), hosts/2)
		}
		f.Revive("2.example")
		save()
		if s := f.Stats(); s.HostsGivenUp != hosts/2-1 || len(states) != hosts/2 || states["2.example"] != (HostState{Host: "2.example", Requests: 1, Eased: 32}) {
			t.Errorf("%d hosts given up, %d states, one of them %+v; want one less given up, whose rate is still lowered", s.HostsGivenUp, len(states), states["2.example"])
		}
	})
}

func TestForgetAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: None, MaxIdleHosts: None}, "https://a.example/1")
		must(t, f.Done(leasePage(t, f), answered))
		if s := f.Stats(); s.Hosts != 0 {
			t.Errorf("%d hosts, want none", s.Hosts)
		}
	})
}
