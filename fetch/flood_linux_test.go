package fetch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"crawl/canon"
)

// flood is a number of hostile bodies beside good pages, for a client in a process of its own.
type flood struct {
	Peer                string
	Bombs, Zbombs       int // of gzip; of zstd, with the largest window
	Slow, Good          int
	Concurrency         int
	MaxBody, BodyMemory int64
	Timeout             time.Duration
}

// floodReport is what became of it.
type floodReport struct {
	PeakBytes   int64          // most that was resident (proc(5), VmHWM)
	Kinds       map[string]int // number of results by kind of page and how it ended
	GoodMost    time.Duration  // longest time that a good page took, waiting for memory included
	WaitedMost  time.Duration  // longest that any body waited for memory
	Took        time.Duration
	StillHeld   int64
	StillMapped int64 // resident after all is released
}

const floodVariable = "CRAWL_FETCH_FLOOD"

// TestFlood: bombs of 10 GB and slow bodies of 64 MiB, more at a time than there is memory for, keep no good page
// from being fetched, and the process stays within its budget.
func TestFlood(t *testing.T) {
	for _, tt := range []struct {
		name string
		flood
	}{
		{"small", flood{Bombs: 12, Zbombs: 4, Slow: 16, Good: 100, Concurrency: 32, MaxBody: 8 << 20, BodyMemory: 176 << 20, Timeout: time.Second}},
		{"full", flood{Bombs: 64, Zbombs: 32, Slow: 64, Good: 200, Concurrency: 64, MaxBody: 64 << 20, BodyMemory: 512 << 20, Timeout: 6 * time.Second}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "full" && testing.Short() {
				t.Skip("it takes half a minute")
			}
			f := tt.flood
			p := newPeer(t, floodPeer(t))
			f.Peer = p.listener.Addr().String()
			r := runFlood(t, f)
			t.Logf("%+v", r)
			t.Logf("peak %d MiB under a budget of %d MiB", r.PeakBytes>>20, f.BodyMemory>>20)
			if r.PeakBytes > f.BodyMemory+150<<20 {
				t.Errorf("%d MiB resident, want %d and 150 at most", r.PeakBytes>>20, f.BodyMemory>>20)
			}
			if r.Kinds["good: whole"] != f.Good {
				t.Errorf("of %d good pages: %v", f.Good, r.Kinds)
			}
			ended := 0
			for kind, n := range r.Kinds {
				if strings.Contains(kind, "bomb: ") && !strings.HasSuffix(kind, "bomb: length") && !strings.HasSuffix(kind, "bomb: time, "+errPatience.Error()) ||
					strings.HasPrefix(kind, "slow: ") && !strings.HasPrefix(kind, "slow: time") {
					t.Errorf("%d times %q", n, kind)
				}
				ended += n
			}
			if ended != f.Bombs+f.Zbombs+f.Slow+f.Good || r.StillHeld != 0 {
				t.Errorf("%d ended, %d bytes are still held", ended, r.StillHeld)
			}
			if most := 2 * f.Timeout; r.GoodMost > most || r.WaitedMost > most {
				t.Errorf("a good page took %v, the longest wait was %v", r.GoodMost, r.WaitedMost)
			}
		})
	}
}

// floodPeer answers by the start of the path.
func floodPeer(t *testing.T) func(*peerConn) {
	bomb := answer(bytes.Repeat(gzipped(t, strings.Repeat(" ", 16<<20)), 640), "Content-Encoding: gzip")
	zbomb := answer(append(frame(23, "")[:6], bytes.Repeat([]byte{2, 0, 0x10, ' '}, 80<<10)...), "Content-Encoding: zstd") // blocks of 128 KiB, one byte again and again
	good := answer(gzipped(t, pseudoText(60<<10)), "Content-Encoding: gzip")
	some := strings.Repeat("x", 64<<10)
	return func(c *peerConn) {
		for {
			head, ok := c.request()
			switch {
			case !ok:
				return
			case strings.HasPrefix(head, "GET /bomb/"):
				c.say(bomb)
			case strings.HasPrefix(head, "GET /zbomb/"):
				c.say(zbomb)
			case strings.HasPrefix(head, "GET /slow/"):
				c.say("HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n")
				pace := time.NewTicker(20 * time.Millisecond)
				defer pace.Stop()
				for range 1024 {
					if _, err := c.Write([]byte(some)); err != nil {
						return
					}
					<-pace.C
				}
			default:
				c.say(good)
			}
		}
	}
}

func runFlood(t *testing.T, f flood) (r floodReport) {
	t.Helper()
	setting, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFloodClient$", "-test.count=1")
	cmd.Env = append(os.Environ(), floodVariable+"="+string(setting))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	line, _, _ := bytes.Cut(out, []byte("\n"))
	if err := json.Unmarshal(line, &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

// TestFloodClient is the other process of TestFlood.
func TestFloodClient(t *testing.T) {
	setting := os.Getenv(floodVariable)
	if setting == "" {
		t.Skip("it is for TestFlood to start")
	}
	var f flood
	if err := json.Unmarshal([]byte(setting), &f); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	c := newClient(t, Config{MaxBodyBytes: f.MaxBody, BodyMemoryBytes: f.BodyMemory, Timeout: f.Timeout})
	r := floodReport{Kinds: make(map[string]int)}
	var mu sync.Mutex // guards r
	var all sync.WaitGroup
	urls := f.urls(t)
	for range f.Concurrency {
		all.Go(func() {
			for u := range urls {
				began := time.Now()
				res, err := c.Fetch(t.Context(), Request{URL: u})
				kind, waited := "failed", time.Duration(0)
				if err == nil {
					kind, waited = ending(res), res.Waited
					res.Release()
				}
				page := strings.Split(u.Path(), "/")[1]
				mu.Lock()
				r.Kinds[page+": "+kind]++
				r.WaitedMost = max(r.WaitedMost, waited)
				if page == "good" {
					r.GoodMost = max(r.GoodMost, time.Since(began))
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	r.Took, r.StillHeld = time.Since(start), c.memory.used
	r.PeakBytes, r.StillMapped = statusBytes(t, "VmHWM"), statusBytes(t, "VmRSS")
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(string(line))
}

// urls returns all pages of the flood, mixed.
func (f flood) urls(t *testing.T) <-chan canon.URL {
	var all []canon.URL
	for kind, n := range map[string]int{"bomb": f.Bombs, "zbomb": f.Zbombs, "slow": f.Slow, "good": f.Good} {
		for i := range n {
			all = append(all, mustParse(t, fmt.Sprintf("http://%s/%s/%d", f.Peer, kind, i)))
		}
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	c := make(chan canon.URL, len(all))
	for _, u := range all {
		c <- u
	}
	close(c)
	return c
}

func ending(res *Result) string {
	kind := string(res.Truncated)
	if res.Truncated == Whole {
		kind = "whole"
	}
	if e, ok := res.BodyErr.(*memoryError); ok {
		kind += ", " + e.cause.Error()
	}
	if res.DecodeErr != nil {
		kind += ", " + res.DecodeErr.Error()
	}
	return kind
}

// statusBytes reads a line of /proc/self/status.
func statusBytes(t *testing.T, name string) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n << 10
		}
	}
	t.Fatalf("no %s", name)
	return 0
}
