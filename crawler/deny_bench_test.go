package crawler

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"crawl/canon"
	"crawl/seen"
)

var denyEntries = flag.Int("deny.entries", 10_000_000, "hosts on the list of BenchmarkDenylist")

// BenchmarkDenylist makes a list of hosts, and checks sites that are not on it: a site that was checked before, one that was
// not, and what a check may cost, which is a hash and two lines of memory that are in no cache.
//
//	go test ./crawler -run xxx -bench Denylist -benchtime 2000000x
func BenchmarkDenylist(b *testing.B) {
	d, made := benchDenylist(b)
	defer d.close()
	v := d.now.Load().versions[0]
	mib := float64(d.views()[0].Bytes) / (1 << 20)
	b.Run("make", func(b *testing.B) {
		for b.Loop() {
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(made.Seconds(), "s")
		b.ReportMetric(mib, "MiB")
		b.ReportMetric(float64(v.entries), "entries")
	})
	urls := benchSites(b, 1<<20)
	check := func(b *testing.B, urls []canon.URL) {
		i := 0
		for b.Loop() {
			if why, err := d.url(urls[i%len(urls)]); why != nil || err != nil {
				b.Fatal(why, err)
			}
			i++
		}
	}
	b.Run("met before", func(b *testing.B) { check(b, urls[:1<<12]) })
	b.Run("new", func(b *testing.B) { check(b, urls) })
	b.Run("floor", func(b *testing.B) { benchFloor(b, urls, v.table) })
	b.Run("link after link", func(b *testing.B) { // as a crawl meets them: a site has many links
		i := 0
		for b.Loop() {
			if why, err := d.url(urls[i/16%len(urls)]); why != nil || err != nil {
				b.Fatal(why, err)
			}
			i++
		}
	})
}

// benchFloor is a hash of each host and two loads of lines that depend on it.
func benchFloor(b *testing.B, urls []canon.URL, t *seen.Table) {
	memory := make([]uint64, 1<<25) // 256 MiB
	for i := range memory {
		memory[i] = uint64(i)
	}
	i, sum := 0, uint64(0)
	for b.Loop() {
		h := t.HashString(urls[i%len(urls)].Hostname())
		sum += memory[h>>(64-25)] + memory[h&(1<<25-1)]
		i++
	}
	runtime.KeepAlive(sum)
}

func benchDenylist(b *testing.B) (*denylists, time.Duration) {
	path := filepath.Join(b.TempDir(), "hosts")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	out, random := bufio.NewWriter(f), rand.New(rand.NewPCG(1, 2))
	for i := range *denyEntries {
		if i%4 == 0 {
			fmt.Fprintf(out, "ads.%x.example\n", random.Uint64()>>16)
		} else {
			fmt.Fprintf(out, "%x.example\n", random.Uint64()>>16)
		}
	}
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	cfg := DefaultConfig().withDefaults()
	cfg.Deny, cfg.Seen.Seed = []string{path}, 7
	names, err := canon.NewRules()
	if err != nil {
		b.Fatal(err)
	}
	d := newDenylists(b.TempDir(), cfg, names)
	start := time.Now()
	if err := d.load(context.Background(), nil); err != nil {
		b.Fatal(err)
	}
	return d, time.Since(start)
}

func benchSites(b *testing.B, n int) []canon.URL {
	random := rand.New(rand.NewPCG(3, 4))
	urls := make([]canon.URL, n)
	for i := range urls {
		var err error
		if urls[i], err = canon.Parse(fmt.Sprintf("https://www.%x.test/page/%d", random.Uint64()>>16, i)); err != nil {
			b.Fatal(err)
		}
	}
	return urls
}
