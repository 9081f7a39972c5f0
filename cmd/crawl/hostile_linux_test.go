package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"crawl/internal/testweb"
	"crawl/internal/testweb/hostile"
	"crawl/store"
)

var usual = flag.Bool("hostile.usual", false, "crawl hostile servers with the limits that a crawl has by itself, which takes a minute")

// TestHostileProcess crawls every kind of broken server that there is a name for in a process of its own, beside good ones,
// and measures what that process holds: the servers are not in it.
func TestHostileProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for servers that keep silent")
	}
	limits, bound, most := hostile.Short(), 90*time.Second, uint64(192<<20)
	if *usual {
		limits, bound, most = hostile.Usual(), 10*time.Minute, 1536<<20
	} else {
		t.Parallel()
	}
	w := newHostileWeb(t, limits)
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	dir := filepath.Join(t.TempDir(), "hostile.crawl")
	cmd := exec.CommandContext(ctx, "crawl", "run", "-q", "--config", w.settings(t), "--seeds", w.seeds(t), "--dir", dir)
	cmd.Env = append(withoutSettings(), "SSL_CERT_FILE="+w.root(t))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	held := peakBytes(cmd.Process.Pid)
	err := cmd.Wait()
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	peak := held()
	t.Logf("%d behaviours; the process held %d MiB at most and took %v of CPU", len(w.bad.Behaviours()), peak>>20,
		cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	if peak == 0 || peak > most {
		t.Errorf("the process held %d MiB, want at most %d", peak>>20, most>>20)
	}
	w.check(t, dir)
	if out, err := exec.CommandContext(ctx, "crawl", "verify", dir).CombinedOutput(); err != nil {
		t.Errorf("the crawl is not sound: %v\n%s", err, out)
	}
}

// hostileWeb is twenty good hosts and all the bad ones.
type hostileWeb struct {
	limits hostile.Limits
	bad    *hostile.Server
	site   *testweb.Site
	good   *testweb.Server
}

func newHostileWeb(t *testing.T, limits hostile.Limits) *hostileWeb {
	t.Helper()
	bad, err := hostile.Start(limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bad.Close() })
	site, err := testweb.New(testweb.Config{Seed: 5, Hosts: 20, PagesPerHost: 12, LinksPerPage: 20, MedianBytes: 5000})
	if err != nil {
		t.Fatal(err)
	}
	good, err := site.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { good.Close() })
	return &hostileWeb{limits: limits, bad: bad, site: site, good: good}
}

// settings writes a file of settings that keep to the limits.
func (w *hostileWeb) settings(t *testing.T) string {
	l := w.limits
	var b strings.Builder
	fmt.Fprintf(&b, "concurrency: 64\nsitemaps: true\ncookies: on\nhost_delay: 0\ncrawl_delay_max: %v\nretry_after_max: %v\n", l.CrawlDelay, l.RetryAfter)
	fmt.Fprintf(&b, "retries: %d\nretry_delay: 1ms\ntimeout: %v\nmax_body: %d\n", l.Retries, l.Timeout, l.BodyBytes)
	fmt.Fprintf(&b, "max_pages_per_host: %d\nconnect_to:\n", l.PagesPerHost)
	for _, rule := range w.bad.ConnectTo() {
		fmt.Fprintf(&b, "  - '%s'\n", rule)
	}
	for _, host := range w.site.Hosts() { // a rule for any host would open all addresses
		fmt.Fprintf(&b, "  - '%s::%s'\n", host, w.good.Addr())
	}
	return written(t, "config.yaml", b.String())
}

func (w *hostileWeb) seeds(t *testing.T) string {
	urls := w.site.Seeds()
	for _, b := range w.bad.Behaviours() {
		urls = append(urls, b.SeedURLs()...)
	}
	return written(t, "seeds.txt", strings.Join(urls, "\n"))
}

func (w *hostileWeb) root(t *testing.T) string {
	return written(t, "root.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.bad.Root().Raw})))
}

func written(t *testing.T, name, text string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// check holds the crawl in dir against what a right one makes of the web.
func (w *hostileWeb) check(t *testing.T, dir string) {
	quiet, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	if err := w.bad.Quiet(quiet); err != nil {
		t.Error(err)
	}
	if report := w.site.Check(w.good.Journal().Fetched(), testweb.Nofollow, testweb.Sitemap); !report.OK() {
		t.Errorf("the good hosts, by what they were asked: %s", report)
	}
	records := hostileRecords(t, dir)
	for _, b := range w.bad.Behaviours() {
		t.Run(b.Name, func(t *testing.T) {
			for _, wrong := range b.Check(w.limits, w.bad.Asked(b.Name), records) {
				t.Errorf("it %s: %s", b.Does, wrong)
			}
		})
	}
}

func hostileRecords(t *testing.T, dir string) map[string]hostile.Record {
	reader, err := store.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]hostile.Record{}
	for p, err := range reader.Pages(t.Context(), store.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		r := hostile.Record{Outcome: p.Outcome.String(), Status: p.Status, Truncated: p.Truncated, Title: p.Title}
		if p.Error != nil {
			r.Code, r.Phase, r.Message = p.Error.Code, p.Error.Phase, p.Error.Message
		}
		all[p.URL] = r
	}
	return all
}

// peakBytes watches the most that a process has held (proc(5), VmHWM) until it is gone. Its rusage would not do: that of a
// new process begins with what its parent held.
func peakBytes(pid int) (peak func() uint64) {
	most := make(chan uint64)
	go func() {
		look := time.NewTicker(20 * time.Millisecond)
		defer look.Stop()
		highest := uint64(0)
		for {
			now, err := peakOf(pid)
			if err != nil {
				most <- highest
				return
			}
			highest = max(highest, now)
			<-look.C
		}
	}()
	return func() uint64 { return <-most }
}

var errNoPeak = errors.New("no VmHWM")

func peakOf(pid int) (uint64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(rest)
	if !ok || len(fields) == 0 { // it has ended, and nobody has waited for it yet
		return 0, errNoPeak
	}
	kib, err := strconv.ParseUint(fields[0], 10, 64)
	return kib << 10, err
}
