// Command slow crawls a hundred good hosts alone, and then beside ten thousand that send a page a kilobyte at a time, and says
// what the good ones lost and how much memory the crawler took.
//
// The server is a process of its own, so that neither its memory nor its files count as the crawler's. The pace of good hosts
// is set by --delay alone: where the crawler has time for them, it is the same in both runs. It counts from when the slow hosts
// are all being asked. Everything is bounded: pages by
// number, slow pages by length, runs by --timeout. For Linux, with `ulimit -Hn` above twice the number of hosts at least.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// plan is what is crawled, and how.
type plan struct {
	good, pages, slow int
	rate              int // bytes a second of a slow page
	concurrency       int
	delay, timeout    time.Duration
	source            string
}

// result is what a run showed.
type result struct {
	goodPerSecond float64
	seconds       float64
	mostSlow      int // slow answers under way at once
	peak          int64
	cpu           time.Duration
}

func main() {
	var p plan
	flag.IntVar(&p.good, "good", 100, "good hosts")
	flag.IntVar(&p.pages, "pages", 70, "pages of each")
	flag.IntVar(&p.slow, "slow", 10_000, "slow hosts")
	flag.IntVar(&p.rate, "rate", 1024, "bytes a second of a slow page")
	flag.IntVar(&p.concurrency, "concurrency", 12_000, "requests in flight")
	flag.DurationVar(&p.delay, "delay", 500*time.Millisecond, "between two requests to a host")
	flag.DurationVar(&p.timeout, "timeout", 3*time.Minute, "for a run")
	flag.StringVar(&p.source, "source", "..", "the repository")
	serve := flag.Bool("serve", false, "be the server; for the command itself")
	flag.Parse()
	err := errors.ErrUnsupported
	if *serve {
		err = serveWeb(p)
	} else {
		err = bench(p)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "slow:", err)
		os.Exit(1)
	}
}

func bench(p plan) error {
	dir, err := os.MkdirTemp("", "crawl-slow-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "crawl")
	build := exec.Command("go", "build", "-o", binary, "./cmd/crawl")
	build.Dir, build.Stderr = p.source, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	alone := p
	alone.slow = 0
	first, err := run(alone, binary, filepath.Join(dir, "alone"))
	if err != nil {
		return err
	}
	second, err := run(p, binary, filepath.Join(dir, "beside"))
	if err != nil {
		return err
	}
	fmt.Printf("%-22s %12s %12s\n", "", "alone", "beside slow")
	fmt.Printf("%-22s %12.1f %12.1f\n", "good pages a second", first.goodPerSecond, second.goodPerSecond)
	fmt.Printf("%-22s %12s %12d\n", "slow at once, at most", "", second.mostSlow)
	fmt.Printf("%-22s %12d %12d\n", "peak RSS, MiB", first.peak>>20, second.peak>>20)
	fmt.Printf("%-22s %12.1f %12.1f\n", "CPU, s", first.cpu.Seconds(), second.cpu.Seconds())
	fmt.Printf("the good ones lost %.1f%%\n", 100*(1-second.goodPerSecond/first.goodPerSecond))
	return nil
}

// run crawls the web of p until the good hosts are done.
func run(p plan, binary, dir string) (result, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return result{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.timeout)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		return result{}, err
	}
	server := exec.CommandContext(ctx, self, "--serve", "--good", strconv.Itoa(p.good), "--pages", strconv.Itoa(p.pages), "--rate", strconv.Itoa(p.rate),
		"--slow", strconv.Itoa(p.slow))
	server.Stderr = os.Stderr
	in, err := server.StdinPipe()
	if err != nil {
		return result{}, err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return result{}, err
	}
	if err := server.Start(); err != nil {
		return result{}, err
	}
	defer server.Wait()
	defer in.Close() // which ends it
	lines := bufio.NewReader(out)
	addr, err := lines.ReadString('\n')
	if err != nil {
		return result{}, fmt.Errorf("server: %w", err)
	}
	return crawl(ctx, p, binary, dir, strings.TrimSpace(addr), lines)
}

func crawl(ctx context.Context, p plan, binary, dir, addr string, lines *bufio.Reader) (r result, err error) {
	seeds := filepath.Join(dir, "seeds")
	if err := os.WriteFile(seeds, seedsOf(p), 0o600); err != nil {
		return r, err
	}
	crawler := exec.CommandContext(ctx, binary, "run", "--seeds", seeds, "--dir", filepath.Join(dir, "out"), "--quiet",
		"--concurrency", strconv.Itoa(p.concurrency), "--delay", p.delay.String(), "--retries", "0", "--delay-factor", "0", "--connect-to", "::"+addr)
	crawler.Stdout, crawler.Stderr = io.Discard, os.Stderr
	if err := crawler.Start(); err != nil {
		return r, err
	}
	peak := watchPeak(crawler.Process.Pid)
	_, err = fmt.Fscan(lines, &r.goodPerSecond, &r.seconds, &r.mostSlow) // once the last good page was asked for
	crawler.Process.Signal(syscall.SIGTERM)
	<-time.After(100 * time.Millisecond) // for a last look at its memory; what is in flight ends meanwhile
	r.peak = peak()
	crawler.Process.Kill() // how it ends is not what is measured
	crawler.Wait()
	r.cpu = crawler.ProcessState.UserTime() + crawler.ProcessState.SystemTime()
	if err != nil {
		return r, fmt.Errorf("the good hosts were not done in %v: %w", p.timeout, err)
	}
	return r, nil
}

// seedsOf lists the slow hosts first: they are there before the good ones.
func seedsOf(p plan) []byte {
	var b bytes.Buffer
	for i := range p.slow {
		fmt.Fprintf(&b, "http://slow%d.test/\n", i)
	}
	for i := range p.good {
		fmt.Fprintf(&b, "http://good%d.test/\n", i)
	}
	return b.Bytes()
}

// watchPeak reads the most memory that a process held (proc(5), VmHWM) until the returned function is called.
func watchPeak(pid int) (stop func() int64) {
	done, ended := make(chan struct{}), make(chan int64)
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		var peak int64
		for {
			if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
				peak = max(peak, peakIn(string(text)))
			}
			select {
			case <-done:
				ended <- peak
				return
			case <-tick.C:
			}
		}
	}()
	return func() int64 {
		close(done)
		return <-ended
	}
}

func peakIn(status string) int64 {
	_, rest, _ := strings.Cut(status, "\nVmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(line, "kB")), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
