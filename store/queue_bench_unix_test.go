//go:build unix

package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"crawl/sortedrun"
)

// queueShape is how entries fall upon hosts.
type queueShape struct {
	name string
	host func(rng *rand.Rand) int
}

var queueShapes = []queueShape{
	{"manyhosts", func(rng *rand.Rand) int { return rng.IntN(1_000_000) }},
	{"onehost", func(rng *rand.Rand) int { return max(0, rng.IntN(1_000_000)-900_000) }},
}

// benchPending returns entries with URLs of 90 bytes on average, 50 off a page, most of them on the page's host.
func benchPending(shape queueShape, n int, seed uint64) []Pending {
	rng := rand.New(rand.NewPCG(1, seed))
	ps := make([]Pending, n)
	url := func(host string) string {
		return fmt.Sprintf("https://%s/catalogue/section-%d/%x/item-%d.html?page=%d",
			host, rng.IntN(50), rng.Uint64(), rng.IntN(1e6), rng.IntN(100))
	}
	for i := range ps {
		host := fmt.Sprintf("host%06d.example", shape.host(rng))
		ps[i] = Pending{
			URL: url(host), Host: host, Referrer: url(host), Seq: uint64(i + 1), From: uint64(1 + i/60),
			Depth: uint32(i*5/n + 1), Class: 2, Visit: 1,
		}
	}
	return ps
}

// cpuTime is the CPU time of the process so far: what a step costs, however busy the machine is.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func perEntry(b *testing.B, name string, d time.Duration, n int) {
	b.ReportMetric(float64(d.Nanoseconds())/float64(n), name+"cpu-ns/entry")
}

// BenchmarkQueueAdd is what the committer pays for a pending URL.
func BenchmarkQueueAdd(b *testing.B) {
	for _, shape := range queueShapes {
		b.Run(shape.name, func(b *testing.B) {
			ps := benchPending(shape, 1<<18, 0)
			urls := 0
			for i := range ps {
				urls += len(ps[i].URL)
			}
			b.ReportMetric(float64(urls)/float64(len(ps)), "URLbytes")
			q := newQueue(nil, newQueueConfig(Config{}.withDefaults()), Coverage{}, 0)
			n := 0
			for b.Loop() {
				if n == len(ps) {
					q.active, n = q.active.recycle(q.cfg.entries), 0
				}
				q.Add(&ps[n])
				n++
			}
		})
	}
}

// BenchmarkQueueLife spills, merges, sweeps and reads 16 memtables, once an iteration.
func BenchmarkQueueLife(b *testing.B) {
	for _, shape := range queueShapes {
		for _, packed := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/zstd=%v", shape.name, packed), func(b *testing.B) {
				for b.Loop() {
					benchLife(b, shape, sortedrun.Options{Compress: packed})
				}
			})
		}
	}
}

const benchSpills = 16

func benchLife(b *testing.B, shape queueShape, o sortedrun.Options) {
	s, q := queueOf(b, func(c *queueConfig) { c.entries = 1 << 30; c.bytes = 1 << 40 })
	q.done = func(context.Context, uint64) (doneBits, error) { return doneBits{}, nil }
	defer func() { _ = s.Close() }()
	const n = 1 << 18
	var spill time.Duration
	for i := range benchSpills {
		for _, p := range benchPending(shape, n, uint64(i)) {
			p.Seq += uint64(i * n)
			q.Add(&p)
		}
		q.Committed(uint64((i+1)*n), 0)
		begun := cpuTime(b)
		if err := q.spillWith(b.Context(), o); err != nil {
			b.Fatal(err)
		}
		spill += cpuTime(b) - begun
	}
	perEntry(b, "spill-", spill, benchSpills*n)
	benchReads(b, q, "16runs-")
	begun := cpuTime(b)
	if err := q.mergeWith(b.Context(), q.runs.infos(QueueRun), o); err != nil {
		b.Fatal(err)
	}
	perEntry(b, "merge-", cpuTime(b)-begun, benchSpills*n)
	info := q.runs.infos(QueueRun)[0]
	b.ReportMetric(float64(info.Bytes)/float64(info.Entries), "B/entry")
	benchReads(b, q, "1run-")
}

// benchReads sweeps all hosts, with 16 entries each at the most, and reads a large host in steps of 1,000.
func benchReads(b *testing.B, q *Queue, name string) {
	delivered, large, largest := 0, uint64(0), 0
	begun := cpuTime(b)
	_, _, err := q.Sweep(0, turnOf(16), none, func(key uint64, entries []Pending, left int) bool {
		more := left > 0
		delivered += len(entries)
		if more || len(entries) > largest {
			large, largest = key, len(entries)
		}
		return true
	})
	if err != nil {
		b.Fatal(err)
	}
	perEntry(b, name+"sweep-", cpuTime(b)-begun, delivered)
	begun = cpuTime(b)
	var entries []Pending
	read := 0
	for more := true; more && read < 1_000_000; read += len(entries) {
		if entries, more, err = q.Host(entries[:0], large, 1000, none); err != nil {
			b.Fatal(err)
		}
	}
	perEntry(b, name+"host-", cpuTime(b)-begun, read)
}
