//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"crawl/internal/testweb"
	"crawl/store"
)

// The crash test kills real processes at random instants, damages what no checkpoint holds, and goes on each time. In the
// end every page is there, each once, and every file reads from start to end.
func TestKilledCrawlLosesNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		interval time.Duration
		hosts    int // of 100 pages each
		kills    int
	}{
		{"5,000 pages, a checkpoint every 400 ms", 400 * time.Millisecond, 50, 36},
		{"2,000 pages, a checkpoint every 100 ms", 100 * time.Millisecond, 20, 16},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if testing.Short() && tt.hosts > 20 {
				t.Skip("long; the smaller one runs")
			}
			t.Parallel()
			hosts, kills := tt.hosts, tt.kills
			if testing.Short() {
				hosts, kills = hosts/5, kills/4
			}
			c := newCrash(t, hosts, tt.interval)
			c.killAndResume(kills)
			if !testing.Short() && c.killed < kills-4 {
				t.Errorf("%d processes were killed while they crawled, want about %d: the web is too small", c.killed, kills)
			}
		})
	}
}

// crash is a crawl that is killed again and again.
type crash struct {
	*testing.T
	site   *testweb.Site
	server *testweb.Server
	dir    string
	seeds  string
	flags  []string
	dice   *rand.Rand
	again  map[string]int // URLs that an acknowledged `add --again` names, and how often

	interval time.Duration
	killed   int // processes that were still crawling
}

func newCrash(t *testing.T, hosts int, interval time.Duration) *crash {
	return newCrashOf(t, testweb.Config{
		Seed: 7, Hosts: hosts, PagesPerHost: 100, MedianBytes: 4000, LinksPerPage: 30, FailRate503: 0.03,
		Latency: 40 * time.Millisecond,
	}, interval)
}

func newCrashOf(t *testing.T, web testweb.Config, interval time.Duration) *crash {
	t.Helper()
	site, err := testweb.New(web)
	if err != nil {
		t.Fatal(err)
	}
	server, err := site.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	c := &crash{T: t, site: site, server: server, again: make(map[string]int), interval: interval}
	seed := uint64(time.Now().UnixNano())
	t.Logf("dice seed %d", seed)
	c.dice = rand.New(rand.NewPCG(seed, 0))
	c.dir = filepath.Join(t.TempDir(), "killed.crawl")
	c.seeds = filepath.Join(t.TempDir(), "seeds.txt")
	if err := os.WriteFile(c.seeds, []byte(strings.Join(site.Seeds(), "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	c.flags = []string{
		"--delay", "0", "--concurrency", "12", "--connect-to", server.ConnectTo(), "--checkpoint-interval", interval.String(),
		"--retry-delay", "300ms", "--pages-size", "64Ki", "--log-size", "64Ki",
	}
	return c
}

func (c *crash) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "crawl", args...)
	cmd.Env = withoutSettings()
	return cmd
}

func (c *crash) killAndResume(kills int) {
	c.runAndKill(append([]string{"run", "--seeds", c.seeds, "--dir", c.dir}, c.flags...), 5*time.Millisecond)
	for n := range kills - 1 {
		c.damageTails()
		args := append([]string{"run", "--resume", "--seeds", c.seeds, "--dir", c.dir}, c.flags...)
		c.runAndKill(args, c.wait(n))
		if c.Failed() {
			return
		}
	}
	c.damageTails()
	ctx, cancel := context.WithTimeout(c.Context(), 90*time.Second)
	defer cancel()
	cmd := c.command(ctx, append([]string{"run", "--resume", "--seeds", c.seeds, "--dir", c.dir}, c.flags...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		c.Fatalf("the last run: %v\n%s", err, out)
	}
	c.check()
}

// wait picks an instant: some in the first milliseconds, some around the first checkpoint, the rest anywhere.
func (c *crash) wait(n int) time.Duration {
	switch n % 4 {
	case 0:
		return time.Duration(c.dice.IntN(60)) * time.Millisecond
	case 1:
		return c.interval + time.Duration(c.dice.IntN(120)-40)*time.Millisecond
	}
	return time.Duration(100+c.dice.IntN(700)) * time.Millisecond
}

// runAndKill starts a process and kills it after a while, most of them while something is added to the crawl.
func (c *crash) runAndKill(args []string, after time.Duration) {
	c.Helper()
	cmd := c.command(c.Context(), args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		c.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case <-timer.C:
		if c.dice.IntN(4) == 0 {
			c.addAgain()
		}
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			c.Error(err)
		}
		if err := <-ended; err != nil {
			c.killed++
		}
	case err := <-ended:
		if err != nil {
			c.Errorf("%s: %v\n%s", strings.Join(args, " "), err, out.String())
		}
	}
}

// addAgain has a page fetched once more. What the command acknowledges must come true, whatever is killed then.
func (c *crash) addAgain() {
	url := c.site.Seeds()[c.dice.IntN(len(c.site.Seeds()))]
	ctx, cancel := context.WithTimeout(c.Context(), 10*time.Second)
	defer cancel()
	out, err := c.command(ctx, "add", c.dir, url, "--again").CombinedOutput()
	if err == nil && strings.Contains(string(out), "1 to be fetched again") {
		c.again[url]++
	}
}

// damageTails does to the files what a power cut may do to everything past the last checkpoint: cuts it anywhere, or
// leaves rubbish there.
func (c *crash) damageTails() {
	if !store.Holds(c.dir) {
		return // killed before the first checkpoint
	}
	cut := c.newest()
	c.damage("pages", ".jsonl", cut.Pages.Position)
	c.damage("log", ".log", cut.Admissions.Position)
	c.damage("done", ".log", cut.Done.Position)
}

// newest returns the last durable checkpoint. It asks the state, of which the file for readers is a moment behind, and a
// copy of it, since opening a crawl cuts its tails off.
func (c *crash) newest() store.Cut {
	copied := filepath.Join(c.TempDir(), "copy.crawl")
	defer os.RemoveAll(copied)
	if err := os.CopyFS(copied, os.DirFS(c.dir)); err != nil {
		c.Fatal(err)
	}
	st, err := store.Open(copied, store.Config{})
	if err != nil {
		c.Fatal(err)
	}
	defer st.Close()
	return st.Last()
}

func (c *crash) damage(sub, ext string, end store.Position) {
	name := filepath.Join(c.dir, sub, fmt.Sprintf("%010d%s", end.File, ext))
	info, err := os.Stat(name)
	if err != nil {
		return // nothing was appended since the file was begun
	}
	if info.Size() < end.Offset {
		c.Errorf("%s has %d bytes, its checkpoint says %d", name, info.Size(), end.Offset)
		return
	}
	switch c.dice.IntN(3) {
	case 0:
		err = os.Truncate(name, end.Offset+c.dice.Int64N(info.Size()-end.Offset+1))
	case 1:
		err = appendRubbish(name, c.dice)
	}
	if err != nil {
		c.Error(err)
	}
}

func appendRubbish(name string, dice *rand.Rand) error {
	rubbish := make([]byte, 1+dice.IntN(5000))
	for i := range rubbish {
		rubbish[i] = byte(dice.Uint32())
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(rubbish)
	return errors.Join(err, f.Close())
}

// check compares the page records with the web's own list, and reads every file.
func (c *crash) check() {
	reader, err := store.OpenReader(c.dir)
	if err != nil {
		c.Fatal(err)
	}
	type visit struct {
		seq uint64
		n   int
	}
	seen := make(map[visit]bool)
	visits := make(map[string]int)
	var fetched []string
	for page, err := range reader.Pages(c.Context(), store.Query{}) {
		if err != nil {
			c.Fatal(err)
		}
		key := visit{page.Seq, page.Visit}
		if seen[key] {
			c.Errorf("visit %d of URL %d has two records", page.Visit, page.Seq)
		}
		seen[key] = true
		visits[page.URL]++
		if page.Visit == 1 && page.Status != 0 {
			fetched = append(fetched, page.URL)
		}
	}
	if report := c.site.Check(slices.Values(fetched), testweb.Nofollow); !report.OK() {
		c.Error(report)
	}
	for url, n := range c.again {
		if visits[url] < 1+n {
			c.Errorf("%s was fetched %d times, and %d more were acknowledged", url, visits[url], n)
		}
	}
	c.checkLogs()
}

// checkLogs: every admission is done at last, and done once for each visit.
func (c *crash) checkLogs() {
	st, err := store.Open(c.dir, store.Config{})
	if err != nil {
		c.Fatal(err)
	}
	defer st.Close()
	admitted := make(map[string]uint64)
	for seq, a := range each(c.T, st) {
		if other := admitted[a.URL]; other != 0 {
			c.Errorf("%s was admitted as %d and as %d", a.URL, other, seq)
		}
		admitted[a.URL] = seq
	}
	pending := make(map[uint64]bool)
	retries := 0
	for _, seq := range admitted {
		pending[seq] = true
	}
	err = st.Done.Each(0, func(e store.DoneEntry) error {
		if !pending[e.Seq] && e.Event == store.EventDone {
			c.Errorf("URL %d is done twice in visit %d", e.Seq, e.Visit)
		}
		if e.Event == store.EventDone && e.Attempt == 0 {
			c.Errorf("URL %d is done without an attempt", e.Seq)
		}
		pending[e.Seq] = e.Event == store.EventAgain
		if e.Event == store.EventAgain {
			retries++
		}
		return nil
	})
	if err != nil {
		c.Error(err)
	}
	for seq, left := range pending {
		if left {
			c.Errorf("URL %d is pending in a complete crawl", seq)
		}
	}
	if retries == 0 && len(admitted) > 100 { // of a few dozen, each that failed may have been in flight when a process was killed
		c.Error("nothing was ever retried: the web does not do its part")
	}
	c.Logf("%d processes killed; %d URLs, %d retries and repeats", c.killed, len(admitted), retries)
}

func each(t *testing.T, st *store.Store) iter.Seq2[uint64, store.Admission] {
	return func(yield func(uint64, store.Admission) bool) {
		err := st.Admissions.Each(1, func(seq uint64, a store.Admission) error {
			if !yield(seq, a) {
				return errors.New("stopped")
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
