//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"crawl/internal/testweb"
	"crawl/store"
)

// What TestKilledCrawlLosesNothing shows, for settings and moments that are out of the ordinary.
func TestKilledAtOddMoments(t *testing.T) {
	if testing.Short() {
		t.Skip("kills some thirty processes")
	}
	t.Parallel()
	for _, tt := range []struct {
		name  string
		flags []string
		round func(c *crash, n int) // one process, from its start to its end
	}{
		{"resume-05: large records, files of a few, a filter that is saved", []string{
			"--config", wholeBodies(t), "--checkpoint-interval", "10ms", "--pages-size", "4Ki", "--log-size", "4Ki",
			"--expect", "1k", "--fp", "0.0001%",
		}, (*crash).killSoon},
		{"terminated, and killed within the grace", []string{"--grace", "50ms"}, (*crash).terminateAndKill},
		{"paused and resumed", nil, (*crash).steerAndKill},
		{"a few pages at a time", []string{"--checkpoint-interval", "50ms"}, (*crash).killNearLimit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCrash(t, 9, 100*time.Millisecond)
			c.flags = append(c.flags, tt.flags...)
			for n := range 8 {
				tt.round(c, n)
				if c.Failed() {
					return
				}
				c.damageTails()
			}
			c.finish()
		})
	}
}

// wholeBodies is a file of settings that has each page's text put into its record.
func wholeBodies(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config.yaml")
	text := "extract:\n  - {field: text, selector: body}\n  - {field: links, selector: a, attr: href, all: true}\n"
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// resumed is the command line that starts the crawl or goes on with it.
func (c *crash) resumed(more ...string) []string {
	return append(append([]string{"run", "--resume", "--seeds", c.seeds, "--dir", c.dir}, c.flags...), more...)
}

func (c *crash) finish() {
	ctx, cancel := context.WithTimeout(c.Context(), 90*time.Second)
	defer cancel()
	if out, err := c.command(ctx, c.resumed("--max-pages", "none")...).CombinedOutput(); err != nil {
		c.Fatalf("the last run: %v\n%s", err, out)
	}
	c.check()
}

func (c *crash) killSoon(n int) { c.runAndKill(c.resumed(), c.wait(n)/2) }

func (c *crash) terminateAndKill(int) {
	c.between(c.resumed(), func(p *os.Process) {
		c.pause(400 * time.Millisecond)
		c.signal(p, syscall.SIGTERM)
		c.pause(80 * time.Millisecond)
	})
}

func (c *crash) steerAndKill(n int) {
	c.between(c.resumed(), func(*os.Process) {
		for range 4 {
			c.pause(150 * time.Millisecond)
			r, err := dial(c.dir)
			switch {
			case err != nil: // it has not begun
			case c.dice.IntN(2) == 0:
				err = r.call(c.Context(), http.MethodPost, "/pause", nil, nil)
			default:
				err = r.call(c.Context(), http.MethodPost, "/resume", nil, nil)
			}
			if err != nil {
				c.Logf("round %d: %v", n, err)
			}
		}
	})
	c.addAgain() // nobody runs it
}

func (c *crash) killNearLimit(n int) {
	limit := uint64(50 * (n + 1))
	c.runAndKill(c.resumed("--max-pages", fmt.Sprint(limit)), time.Duration(100+c.dice.IntN(400))*time.Millisecond)
	reader, err := store.OpenReader(c.dir)
	if errors.Is(err, store.ErrNotCrawl) {
		return
	}
	if err != nil {
		c.Fatal(err)
	}
	if records := reader.Cut().Pages.Records; records > limit {
		c.Errorf("%d page records, the limit is %d", records, limit)
	}
}

// between starts a process, does something beside it, and kills it.
func (c *crash) between(args []string, do func(*os.Process)) {
	cmd := c.command(c.Context(), args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		c.Fatal(err)
	}
	do(cmd.Process)
	c.signal(cmd.Process, syscall.SIGKILL)
	err := cmd.Wait()
	ended, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil: // complete
	case failed && (!ended.Exited() || ended.ExitCode() == exitInterrupted+int(syscall.SIGTERM)):
		c.killed++
	default:
		c.Errorf("%v: %v\n%s", args, err, out.String())
	}
}

func (c *crash) signal(p *os.Process, s os.Signal) {
	if err := p.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.Error(err)
	}
}

// pause waits for a random time.
func (c *crash) pause(most time.Duration) { <-time.After(time.Duration(c.dice.Int64N(int64(most)))) }

// resume-03: a process that is killed while it makes a crawl leaves one that is whole, or none. Either way the same command
// line goes on to the end.
func TestKilledWhileItBegins(t *testing.T) {
	t.Parallel()
	rounds := 4
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		c := newCrashOf(t, testweb.Config{Seed: 9, Hosts: 3, PagesPerHost: 8, FailRate503: 0.2}, 50*time.Millisecond)
		for range 4 {
			c.runAndKill(c.resumed(), time.Duration(c.dice.IntN(50_000))*time.Microsecond)
		}
		c.finish()
	}
}
