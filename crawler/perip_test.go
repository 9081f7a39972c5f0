package crawler_test

import (
	"net"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"crawl/fetch"
)

// With per_ip, hosts on one address take turns as one host would: its delay lies between any two requests to them. A host
// on another address is not held up by that.
func TestHostsOnOneAddress(t *testing.T) {
	t.Parallel()
	const delay = 100 * time.Millisecond
	pages := make(map[string]answer)
	var urls []string
	for _, host := range []string{"a", "b", "c"} {
		for _, page := range []string{"1", "2", "3"} {
			url := "http://" + host + ".test/" + page
			pages[url], urls = answer{body: "page"}, append(urls, url)
		}
	}
	for _, tt := range []struct {
		name  string
		perIP bool
	}{{"shared", true}, {"not shared", false}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, pages)
			listener, err := net.Listen("tcp", "127.0.0.2:0")
			if err != nil {
				t.Skip("this machine has one loopback address: ", err)
			}
			second := httptest.NewUnstartedServer(w)
			second.Listener.Close()
			second.Listener = listener
			second.Start()
			t.Cleanup(second.Close)

			cfg := w.quick()
			cfg.Frontier.HostDelay, cfg.Frontier.PerIP = delay, tt.perIP
			other := everythingTo(listener.Addr().String())
			cfg.Fetch.ConnectTo = []fetch.ConnectTo{{Host: "c.test", ToHost: other.ToHost, ToPort: other.ToPort}, cfg.Fetch.ConnectTo[0]}
			_, s := crawl(t, cfg, urls...)
			if s.Done != 9 {
				t.Fatalf("%d pages are done, want 9", s.Done)
			}
			all := append(w.times("http://a.test/"), w.times("http://b.test/")...)
			least := leastGap(all)
			if tt.perIP && least < delay || !tt.perIP && least >= delay {
				t.Errorf("two requests to the hosts on one address were %v apart; the delay is %v", least, delay)
			}
			alone := w.times("http://c.test/")
			if took := alone[len(alone)-1].Sub(alone[0]); took > time.Duration(len(all)-2)*delay {
				t.Errorf("the host on the other address took %v", took)
			}
			if gap := leastGap(alone); gap < delay {
				t.Errorf("two requests to it were %v apart", gap)
			}
		})
	}
}

// leastGap returns the shortest time between two requests.
func leastGap(at []time.Time) time.Duration {
	slices.SortFunc(at, time.Time.Compare)
	least := time.Duration(1<<63 - 1)
	for i := 1; i < len(at); i++ {
		least = min(least, at[i].Sub(at[i-1]))
	}
	return least
}
