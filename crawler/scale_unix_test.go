//go:build linux

package crawler

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"crawl/canon"
	"crawl/frontier"
	"crawl/store"
)

// The scale run drives the serial half of a crawl, from admission over lease to finish, without fetching anything. The
// command bench/scale runs it large and prints what it reports; here it runs small and must be right.
var (
	scaleURLs  = flag.Int("scale.urls", 30_000, "URLs that the scale run admits, leases and finishes")
	scaleShape = flag.String("scale.shape", "", "even: 100 URLs a host; one: 90% of all on one host; tiny: 10 URLs a host; empty: each of them")
	scaleDir   = flag.String("scale.dir", "", "where its crawl is made; empty: in a temporary folder")
	scaleOut   = flag.String("scale.out", "", "file that its report is appended to, as JSON")
)

const (
	scaleLinks    = 64          // new links of a page, until all URLs are admitted
	scaleFinish   = 10_000      // finishes a checkpoint
	scalePatience = time.Minute // for a lease: more is a stall
	scaleLeased   = 2_048       // leases that are out at once, ended in random order
)

func TestScale(t *testing.T) {
	for _, shape := range []string{"even", "one", "tiny"} {
		if *scaleShape == "" || *scaleShape == shape {
			t.Run(shape, func(t *testing.T) { newScale(t, shape, *scaleURLs).run() })
		}
	}
}

// scaleReport is what a scale run measured. CPU is user and system time.
type scaleReport struct {
	Shape             string  `json:"shape"`
	URLs              int     `json:"urls"`
	Hosts             int     `json:"hosts"`
	CPUPerURL         float64 `json:"cpu_us_per_url"`     // all but the making of URLs
	ZstdPerURL        float64 `json:"zstd_us_per_url"`    // the same URLs appended as zstd blocks of 4,096, default level
	Ratio             float64 `json:"ratio"`              // of the two
	PeakAnonBytes     int64   `json:"peak_anon_bytes"`    // RssAnon
	PeakRSSBytes      int64   `json:"peak_rss_bytes"`     // page cache that is mapped included
	FilterBytes       int64   `json:"filter_bytes"`       // of the above
	DiskPerURL        float64 `json:"disk_bytes_per_url"` // half of the URLs finished, no merge under way
	DiskAtEnd         float64 `json:"disk_bytes_per_url_at_end"`
	CheckpointTails   float64 `json:"checkpoint_tail_bytes"` // of CheckpointBytes: appended to the open tails of the logs
	CheckpointBytes   float64 `json:"checkpoint_bytes"`      // mean of the last 100
	CheckpointHoldP99 float64 `json:"checkpoint_hold_cpu_ms_p99"`
	Checkpoints       int     `json:"checkpoints"`
	RestartSeconds    float64 `json:"restart_s"`               // from Open to the first page lease, half of the URLs finished
	RestartCPU        float64 `json:"restart_cpu_s"`           // of the process meanwhile
	RestartCold       float64 `json:"restart_cold_s"`          // the same, with none of the directory's pages in memory
	ColdBytes         int64   `json:"restart_cold_read_bytes"` // that it read from the disk
	WhySeconds        float64 `json:"why_s"`                   // the slowest of 100
	WallSeconds       float64 `json:"wall_s"`
	SeenRatio         float64 `json:"seen_db_over_filter"`
}

// scale is one scale run.
type scale struct {
	t      *testing.T
	c      *Crawler
	dir    string
	rnd    *rand.Rand
	report scaleReport

	source  *rand.PCG // seeded anew for each URL
	numbers *rand.Rand
	text    []byte // of the last URL

	admitted, finished int
	delivered          []uint64 // a bit for each number: it was finished
	leased             []frontier.Lease
	page               []link
	making             time.Duration // CPU of making URLs
	stop               func()
	written, tails     []int
	holds              []time.Duration
}

func newScale(t *testing.T, shape string, n int) *scale {
	s := &scale{
		t: t, dir: *scaleDir, rnd: rand.New(rand.NewPCG(1, uint64(n))), delivered: make([]uint64, n/64+2), source: rand.NewPCG(7, 0),
	}
	s.numbers = rand.New(s.source)
	if s.dir == "" {
		s.dir = t.TempDir()
	}
	s.dir = filepath.Join(s.dir, shape)
	s.report = scaleReport{Shape: shape, URLs: n, Hosts: max(1, n/100)}
	if shape == "tiny" {
		s.report.Hosts = max(1, n/10)
	}
	return s
}

func (s *scale) config() Config {
	cfg := DefaultConfig()
	cfg.Scope.Mode = "any"
	cfg.Frontier.HostDelay, cfg.Frontier.DelayFactor = frontier.None, frontier.None
	cfg.CheckpointInterval = 1000 * time.Hour // made by the run itself
	cfg.Fetcher = noFetcher{}
	return cfg
}

func (s *scale) must(err error) {
	if err != nil {
		s.t.Helper()
		s.t.Fatal(err)
	}
}

func (s *scale) run() {
	began := time.Now()
	s.report.ZstdPerURL = s.zstdCost()
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // as the command has it for a heap of more than 128 MiB
	c, err := Create(s.dir, s.config(), func(yield func(Seed, error) bool) { yield(Seed{URL: s.url(0).String()}, nil) })
	s.must(err)
	s.start(c)
	s.must(c.feedSeeds(s.t.Context()))
	s.admitted = 1
	s.making = 0
	cpu := processCPU()
	for s.finished < s.report.URLs/2 {
		s.step()
	}
	s.drainLeases()
	s.checkpoint()
	spent := processCPU() - cpu - s.making
	s.rest()
	s.report.DiskPerURL = s.diskPerURL()
	s.measureWhy()
	s.restart()
	s.restartCold()
	s.making = 0
	cpu = processCPU()
	for s.finished < int(s.c.committer.store.Admissions.Len()) { // less a few that the filter took for seen
		s.step()
	}
	s.checkpoint()
	spent += processCPU() - cpu - s.making
	s.finish(spent, time.Since(began))
}

// start runs what runs beside the committer.
func (s *scale) start(c *Crawler) {
	s.c = c
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	var beside errgroup.Group
	beside.Go(func() error { return c.refill(ctx, done) })
	beside.Go(func() error { return c.tidy(ctx, done) })
	s.stop = func() {
		close(done)
		cancel()
		s.must(beside.Wait())
	}
}

// step finishes one page, and has it link to new ones while there are some.
func (s *scale) step() {
	for len(s.leased) < scaleLeased {
		if !s.lease() {
			break
		}
	}
	i := s.rnd.IntN(len(s.leased))
	l := s.leased[i]
	last := len(s.leased) - 1
	s.leased[i] = s.leased[last]
	s.leased = s.leased[:last]
	s.end(l)
	if s.finished%scaleFinish == 0 {
		s.checkpoint()
	}
}

// lease takes one more page, if one is due or none is out.
func (s *scale) lease() bool {
	ctx := s.t.Context()
	if s.c.frontier.Stats().HostsDue == 0 {
		if len(s.leased) > 0 {
			return false
		}
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, scalePatience)
		defer cancel()
	}
	l, err := s.c.frontier.Lease(ctx)
	if err != nil {
		s.t.Fatalf("%v with %d of %d URLs finished: %+v", err, s.finished, s.admitted, s.c.frontier.Stats())
	}
	switch l.Kind {
	case frontier.Resolve:
		s.must(s.c.frontier.Resolved(l, nil, time.Hour))
	case frontier.Robots:
		s.must(s.c.frontier.Permit(l, nil, time.Hour, frontier.Outcome{Requested: true}))
	case frontier.Page:
		s.leased = append(s.leased, l)
	}
	return true
}

// end commits a visit.
func (s *scale) end(l frontier.Lease) {
	word, bit := l.Seq/64, uint64(1)<<(l.Seq%64)
	if s.delivered[word]&bit != 0 {
		s.t.Fatalf("number %d was leased again after it had ended", l.Seq)
	}
	s.delivered[word] |= bit
	links := s.links()
	k := s.c.committer
	s.must(k.whole(func() error {
		if err := k.admit(links, origin{seq: l.Seq, url: l.URL}); err != nil {
			return err
		}
		k.books.Counters.Outcomes[store.OutcomeOK]++
		entry := store.DoneEntry{
			Seq: l.Seq, Event: store.EventDone, Outcome: store.OutcomeOK, Status: 200, Attempt: 1, Visit: 1, At: time.Now(), Record: uint64(s.finished + 1),
		}
		if err := k.store.Done.Append(entry); err != nil {
			return err
		}
		return k.frontier.Done(l, frontier.Outcome{Requested: true, Took: time.Millisecond})
	}))
	s.finished++
}

// links makes the next new links. What they cost is not counted.
func (s *scale) links() []link {
	s.page = s.page[:0]
	if s.admitted == s.report.URLs {
		return nil
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := threadCPU()
	for len(s.page) < scaleLinks && s.admitted < s.report.URLs {
		u := s.url(s.admitted)
		s.page = append(s.page, link{url: u, hash: s.c.hash(u), class: frontier.Navigation, depth: 1 + s.admitted/(1+s.report.URLs/8)})
		s.admitted++
	}
	s.making += threadCPU() - began
	return s.page
}

// url returns URL i. Of 87 bytes in the mean, on a host by the shape of the run.
func (s *scale) url(i int) canon.URL {
	s.source.Seed(7, uint64(i))
	h := s.numbers
	host := h.IntN(s.report.Hosts)
	if s.report.Shape == "one" && h.IntN(10) > 0 {
		host = 0
	}
	word := func() string { return scaleWords[h.IntN(len(scaleWords))] }
	b := append(s.text[:0], "https://www.site-"...)
	b = strconv.AppendInt(b, int64(host), 10)
	b = append(append(b, ".example/"...), word()...)
	b = append(append(b, '/'), word()...)
	b = strconv.AppendInt(append(b, '/'), int64(i), 10)
	b = append(append(b, '-'), word()...)
	b = strconv.AppendUint(append(b, '-'), h.Uint64()>>16, 36)
	b = append(b, ".html"...)
	for len(b) < 60+h.IntN(54) {
		b = append(append(b, '-'), word()...)
	}
	s.text = b
	u, err := canon.Keep(string(b))
	s.must(err)
	return u
}

var scaleWords = strings.Fields("news archive article products category review guide history science people travel music health sport culture 2024 2025 2026 index about world local weather opinion video gallery")

// checkpoint makes one, and notes what it wrote and for how long it held the committer.
func (s *scale) checkpoint() {
	runtime.LockOSThread()
	began := threadCPU()
	job, err := s.c.committer.prepare()
	s.holds = append(s.holds, threadCPU()-began)
	runtime.UnlockOSThread()
	s.must(err)
	s.must(job.Commit())
	s.c.committer.written(job.Checkpoint)
	s.written = append(s.written, job.Bytes())
	s.tails = append(s.tails, job.TailBytes())
	s.must(job.filter.write(s.c.committer.store.Filter()))
	anon, rss := memory()
	s.report.PeakAnonBytes, s.report.PeakRSSBytes = max(s.report.PeakAnonBytes, anon), max(s.report.PeakRSSBytes, rss)
}

// drainLeases ends what is leased.
func (s *scale) drainLeases() {
	for _, l := range s.leased {
		s.end(l)
	}
	s.leased = s.leased[:0]
}

// rest lets all merges that are due come to their end.
func (s *scale) rest() {
	for {
		did, err := s.c.committer.store.Work(s.t.Context())
		s.must(err)
		if !did {
			break
		}
	}
	s.checkpoint()
}

// restart ends the process's part as a kill does, and measures how long it takes until a page is leased again.
func (s *scale) restart() {
	s.kill()
	cpu := processCPU()
	s.report.RestartSeconds = s.reopen().Seconds()
	s.report.RestartCPU = (processCPU() - cpu).Seconds()
}

// restartCold is restart after the system was told to forget what it has of the directory's files in memory.
func (s *scale) restartCold() {
	s.kill()
	s.must(filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close())
	}))
	before := diskRead()
	s.report.RestartCold = s.reopen().Seconds()
	s.report.ColdBytes = diskRead() - before
}

func (s *scale) kill() {
	s.stop()
	s.must(s.c.Close())
	s.c, s.leased = nil, s.leased[:0]
	runtime.GC()
}

// reopen returns how long it takes from Open to the first page.
func (s *scale) reopen() time.Duration {
	began := time.Now()
	c, err := Open(s.dir, func(c *Config) { c.Fetcher = noFetcher{} })
	s.must(err)
	s.start(c)
	for len(s.leased) == 0 {
		s.lease()
	}
	return time.Since(began)
}

// diskRead is how many bytes this process has read that no memory had.
func diskRead() (bytes int64) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if n, found := strings.CutPrefix(line, "read_bytes: "); found {
			bytes, _ = strconv.ParseInt(strings.TrimSpace(n), 10, 64)
		}
	}
	return bytes
}

func (s *scale) finish(spent, wall time.Duration) {
	if s.c.frontier.Stats().Queued != 0 {
		s.t.Errorf("%+v when all is done", s.c.frontier.Stats())
	}
	if _, err := s.c.frontier.Lease(s.t.Context()); !errors.Is(err, frontier.ErrDrained) {
		s.t.Errorf("leased another, %v", err)
	}
	s.rest()
	r := &s.report
	for s.c.committer.saver.active {
		s.checkpoint()
	}
	r.FilterBytes = s.c.committer.met.filter.Stats().Bytes
	r.DiskAtEnd = s.diskPerURL()
	if info, err := os.Stat(filepath.Join(s.dir, "seen.db")); err == nil {
		r.SeenRatio = float64(info.Size()) / float64(r.FilterBytes)
	}
	s.stop()
	s.must(s.c.Close())
	r.CPUPerURL = float64(spent.Nanoseconds()) / 1e3 / float64(r.URLs)
	r.Ratio = r.CPUPerURL / r.ZstdPerURL
	r.WallSeconds = wall.Seconds()
	r.Checkpoints = len(s.written)
	recent := s.written[max(0, len(s.written)-100):]
	for i, n := range recent {
		r.CheckpointBytes += float64(n) / float64(len(recent))
		r.CheckpointTails += float64(s.tails[len(s.tails)-len(recent)+i]) / float64(len(recent))
	}
	slices.Sort(s.holds)
	r.CheckpointHoldP99 = float64(s.holds[len(s.holds)*99/100].Microseconds()) / 1e3
	text, err := json.Marshal(r)
	s.must(err)
	s.t.Logf("%s", text)
	if *scaleOut != "" {
		f, err := os.OpenFile(*scaleOut, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		s.must(err)
		_, err = f.Write(append(text, '\n'))
		s.must(errors.Join(err, f.Close()))
	}
}

// measureWhy asks for the fate of 100 URLs.
func (s *scale) measureWhy() {
	for range 100 {
		u := s.url(s.rnd.IntN(s.admitted))
		began := time.Now()
		known, err := s.c.committer.store.Find([]uint64{s.c.hash(u)})
		s.must(err)
		for _, seq := range known {
			_, _, err := s.c.committer.store.LastDone(seq)
			s.must(err)
			_, err = s.c.committer.store.Admissions.Get(seq)
			s.must(err)
		}
		s.report.WhySeconds = max(s.report.WhySeconds, time.Since(began).Seconds())
	}
}

// zstdCost is what appending the same URLs as zstd blocks of 4,096 costs, in microseconds a URL.
func (s *scale) zstdCost() float64 {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	s.must(err)
	out, err := os.Create(filepath.Join(s.t.TempDir(), "blocks"))
	s.must(err)
	defer out.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var spent time.Duration
	n := min(s.report.URLs, 1_000_000) / store.BlockEntries * store.BlockEntries
	var packed []byte
	for i := 0; i < n; i += store.BlockEntries {
		urls := make([]string, 0, store.BlockEntries)
		for j := range store.BlockEntries {
			urls = append(urls, s.url(i+j).String())
		}
		began := threadCPU()
		var plain []byte
		for _, u := range urls {
			plain = append(plain, u...)
			plain = append(plain, '\n')
		}
		packed = enc.EncodeAll(plain, packed[:0])
		_, err := out.Write(packed)
		spent += threadCPU() - began
		s.must(err)
	}
	return float64(spent.Nanoseconds()) / 1e3 / float64(n)
}

func (s *scale) diskPerURL() float64 {
	var total int64
	s.must(filepath.WalkDir(s.dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	}))
	return float64(total) / float64(s.admitted)
}

func processCPU() time.Duration { return cpuOf(syscall.RUSAGE_SELF) }

const rusageThread = 1 // of this thread alone

func threadCPU() time.Duration { return cpuOf(rusageThread) }

func cpuOf(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// memory returns the anonymous and all resident memory of this process.
func memory() (anon, rss int64) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "RssAnon":
			anon = kb << 10
		case "VmRSS":
			rss = kb << 10
		}
	}
	return anon, rss
}

// noFetcher fetches nothing.
type noFetcher struct{ Fetcher }

func (noFetcher) Close() error { return nil }
