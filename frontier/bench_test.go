package frontier

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"crawl/canon"
)

// hostURLs returns a URL on each of n hosts.
func hostURLs(b *testing.B, n int) []canon.URL {
	urls := make([]canon.URL, n)
	for i := range urls {
		urls[i] = parse(b, fmt.Sprintf("https://www.host-%d.example/articles/%d.html", i, i))
	}
	return urls
}

// BenchmarkVisit is what one URL costs, from Add over Lease to Done, with all hosts known. The delay is the shortest
// there is, so that each host passes through the heap of those that wait.
func BenchmarkVisit(b *testing.B) {
	for _, hosts := range []int{1000, 10_000, 1_000_000} {
		b.Run(fmt.Sprintf("hosts=%d", hosts), func(b *testing.B) {
			urls := hostURLs(b, hosts)
			f, err := New(Config{HostDelay: 1, DelayFactor: None, MaxIdleHosts: hosts, MaxHosts: 2 * hosts, MaxTasks: 2*hosts + 1000})
			must(b, err)
			defer f.Close()
			for i, u := range urls {
				f.Add(Task{URL: u, Seq: uint64(i), Visit: 1})
			}
			for range urls {
				must(b, f.Done(leaseFast(b, f), answered))
			}
			seq := uint64(hosts)
			b.ReportAllocs()
			for b.Loop() {
				seq++
				f.Add(Task{URL: urls[seq%uint64(hosts)], Seq: seq, Visit: 1})
				l, err := f.Lease(b.Context())
				if err != nil || l.Kind != Page {
					b.Fatal(l.Kind, err)
				}
				if err := f.Done(l, answered); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// leaseFast is leasePage without a check.
func leaseFast(b *testing.B, f *Frontier) Lease {
	for {
		l, err := f.Lease(b.Context())
		must(b, err)
		switch l.Kind {
		case Resolve:
			must(b, f.Resolved(l, loopback, time.Hour))
		case Robots:
			must(b, f.Permit(l, crawlDelay(0), time.Hour, Outcome{}))
		case Page:
			return l
		}
	}
}

// BenchmarkBacklog is Lease and Done with work on every host, most of which wait their delay.
func BenchmarkBacklog(b *testing.B) {
	for _, hosts := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("hosts=%d", hosts), func(b *testing.B) {
			urls := hostURLs(b, hosts)
			f, err := New(Config{HostDelay: 1, DelayFactor: None, IgnoreRobots: true})
			must(b, err)
			defer f.Close()
			seq := uint64(0)
			for range 10 {
				for _, u := range urls {
					seq++
					f.Add(Task{URL: u, Seq: seq, Visit: 1})
				}
			}
			for range urls {
				must(b, f.Done(leaseFast(b, f), answered))
			}
			b.ReportAllocs()
			for b.Loop() {
				l, err := f.Lease(b.Context())
				if err != nil || l.Kind != Page {
					b.Fatal(l.Kind, err)
				}
				f.Add(l.Task)
				if err := f.Done(l, answered); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkContention has 12,000 fetchers share 1,000 hosts, so that nearly all of them wait.
func BenchmarkContention(b *testing.B) {
	urls := hostURLs(b, 1000)
	f, err := New(Config{HostDelay: time.Millisecond, DelayFactor: None, IgnoreRobots: true})
	must(b, err)
	defer f.Close()
	for i, u := range urls {
		f.Add(Task{URL: u, Seq: uint64(i), Visit: 1})
	}
	for range urls {
		must(b, f.Return(leaseFast(b, f)))
	}
	b.SetParallelism(12_000 / runtime.GOMAXPROCS(0))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			l, err := f.Lease(b.Context())
			if err != nil {
				b.Error(err)
				return
			}
			f.Add(l.Task) // before Done, or the frontier may be drained in between
			if err := f.Done(l, answered); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkMemory reports what a host costs: with a task and nothing known, and without work but with all known.
func BenchmarkMemory(b *testing.B) {
	const hosts = 100_000
	urls := hostURLs(b, hosts)
	for b.Loop() {
		before := heap()
		f, err := New(Config{HostDelay: None, MaxIdleHosts: hosts})
		must(b, err)
		for i, u := range urls {
			f.Add(Task{URL: u, Seq: uint64(i), Visit: 1})
		}
		b.ReportMetric(float64(heap()-before)/hosts, "B/host-with-task")
		for range urls {
			must(b, f.Done(leaseFast(b, f), answered))
		}
		b.ReportMetric(float64(heap()-before)/hosts, "B/idle-host")
		f.Close()
		runtime.KeepAlive(f)
	}
}

// BenchmarkTaskMemory reports what a pending URL of 87 bytes costs, the text included, where hosts have many.
func BenchmarkTaskMemory(b *testing.B) {
	const hosts, tasks = 100, 200_000
	for b.Loop() {
		before := heap()
		f, err := New(Config{})
		must(b, err)
		for i := range tasks {
			url := fmt.Sprintf("https://www.host%02d.example/a/path/of/some/length/to/a/page/that/is/number-%09d.html?q=1", i%hosts, i)
			f.Add(Task{URL: parse(b, url), Seq: uint64(i), Visit: 1})
		}
		b.ReportMetric(float64(heap()-before)/tasks, "B/task")
		f.Close()
		runtime.KeepAlive(f)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
