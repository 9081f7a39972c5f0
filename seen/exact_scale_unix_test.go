//go:build unix

package seen

import (
	"flag"
	"os"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"
)

var exactKeys = flag.Int("exact.keys", 200_000, "keys of the exact set that TestExactScale makes; 100000000 is what its bars are for")

// cpuTime is the CPU time of the process so far.
func cpuTime(t testing.TB) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// peakMemory returns the most memory that the process has had so far, in bytes; 0 where the system does not tell.
func peakMemory() int {
	text, _ := os.ReadFile("/proc/self/status")
	if m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text); m != nil {
		kib, _ := strconv.Atoi(string(m[1]))
		return kib << 10
	}
	return 0
}

// An exact set of many keys answers without error, within the memory, the disk and the time that it is meant for.
func TestExactScale(t *testing.T) {
	n := *exactKeys
	dir := t.TempDir()
	c := Config{FalsePositiveRate: 0.01, ExpectedItems: uint64(n) + uint64(n)/50}
	e, err := OpenExact(dir, c)
	if err != nil {
		t.Fatal(err)
	}
	start, cpu := time.Now(), cpuTime(t)
	hashes, was := make([]uint64, 1024), make([]bool, 1024)
	for at := 0; at < n; at += len(hashes) {
		batch := hashes[:min(len(hashes), n-at)]
		for i := range batch {
			batch[i] = numbered(at + i)
		}
		wantAnswers(t, e, batch, was[:len(batch)], func(int) bool { return false })
	}
	if err := e.Sync(); err != nil {
		t.Fatal(err)
	}
	st := e.LookupStats()
	t.Logf("made: %.2f µs CPU a key, %v in all; %d runs, %.2f bytes a key, %d false positives of the front", us(cpuTime(t)-cpu, n),
		time.Since(start).Round(time.Millisecond), st.Runs, float64(st.DiskBytes)/float64(n), st.FalsePositives)
	next := askMixed(t, e, n)
	st, stats := e.LookupStats(), e.Stats()
	t.Logf("memory: %d MB by its own account, process %d MB at most", stats.Bytes>>20, peakMemory()>>20)
	if perKey := float64(st.DiskBytes) / float64(next); perKey > 12 {
		t.Errorf("%.1f bytes a key on the disk, want at most 12", perKey)
	}
	if n >= 100_000_000 && stats.Bytes > 350<<20 {
		t.Errorf("%d bytes of memory, want at most 350 MiB", stats.Bytes)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	start, cpu = time.Now(), cpuTime(t)
	e, err = OpenExact(dir, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("opened: %v, %v CPU", time.Since(start).Round(time.Millisecond), (cpuTime(t) - cpu).Round(time.Millisecond))
	defer e.Close()
	if e.Len() != uint64(next) {
		t.Errorf("%d keys after reopening, want %d", e.Len(), next)
	}
	askOthers(t, e, next)
}

// askMixed offers batches of which nine tenths are there, and returns the number that the next new key would have.
func askMixed(t *testing.T, e *Exact, n int) int {
	next := n
	for _, size := range []int{64, 1024} {
		asked := min(1<<20, n/2)
		hashes, was := make([]uint64, size), make([]bool, size)
		before, cpu := e.LookupStats(), time.Duration(0)
		for at := 0; at < asked; at += size {
			first := next
			for i := range hashes {
				if i%10 == 0 {
					hashes[i] = numbered(next)
					next++
				} else {
					hashes[i] = numbered(int(splitMix(uint64(next+i)) % uint64(first)))
				}
			}
			start := cpuTime(t)
			wantAnswers(t, e, hashes, was, func(i int) bool { return i%10 != 0 })
			cpu += cpuTime(t) - start
		}
		after := e.LookupStats()
		perKey := us(cpu, asked)
		t.Logf("batches of %d, 90%% there: %.2f µs CPU a key; of %d asked %d cached, %d looked up, %d in vain, %d pages read", size, perKey,
			after.Asked-before.Asked, after.Cached-before.Cached, after.Maybes-before.Maybes,
			after.FalsePositives-before.FalsePositives, after.PagesRead-before.PagesRead)
		if n >= 100_000_000 && perKey > 3 {
			t.Errorf("batches of %d: %.2f µs CPU a key, want at most 3", size, perKey)
		}
	}
	return next
}

// askOthers asks for keys that are not there.
func askOthers(t *testing.T, e *Exact, next int) {
	hashes, has := make([]uint64, 1024), make([]bool, 1024)
	others := min(10_000_000, next)
	cpu := cpuTime(t)
	for at := 0; at < others; at += len(hashes) {
		for i := range hashes {
			hashes[i] = numbered(next + at + i)
		}
		if err := e.HasBatch(hashes, has); err != nil {
			t.Fatal(err)
		}
		for i, yes := range has {
			if yes {
				t.Fatalf("key %d was never added, and is there", next+at+i)
			}
		}
	}
	t.Logf("%d others: %.2f µs CPU a key, %d false positives of the front, none behind it", others, us(cpuTime(t)-cpu, others),
		e.LookupStats().FalsePositives)
}

func wantAnswers(t *testing.T, e *Exact, hashes []uint64, was []bool, want func(i int) bool) {
	if err := e.TestAndAddBatch(hashes, was); err != nil {
		t.Fatal(err)
	}
	for i, got := range was {
		if got != want(i) {
			t.Fatalf("hash %#x: was there before: %v, want %v", hashes[i], got, want(i))
		}
	}
}

func us(d time.Duration, n int) float64 { return float64(d.Nanoseconds()) / 1000 / float64(n) }
