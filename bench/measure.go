package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// subject is a crawler that can be run.
type subject struct {
	name    string
	version string
	command func(addr, dir string) []string // crawls the web at addr, and writes below dir if anywhere
	exits   []int                           // the exit codes of a run that went to its end
}

var allSubjects = []string{oursName, wget2Name, collyName, floorName}

// errAbsent: a peer is not installed.
var errAbsent = errors.New("not installed")

// run is one run of a subject: what it cost and what the server says of it.
type run struct {
	Subject string  `json:"subject"`
	Round   int     `json:"round"`
	WallS   float64 `json:"wall_s"` // start of the process and its end included
	CPUs    float64 `json:"cpu_s"`  // user and system
	MaxRSS  int64   `json:"max_rss_bytes"`
	Exit    int     `json:"exit"` // -1: ended by a signal
	Cut     bool    `json:"cut"`  // ended by bench after --timeout
	Failed  bool    `json:"failed"`
	Talk    string  `json:"talk,omitempty"` // the end of what a failed run wrote to stderr
	served
}

// cpuPer1000 is false for a run without pages.
func (r run) cpuPer1000() (float64, bool) {
	return 1000 * r.CPUs / float64(r.Pages), r.Pages > 0
}

func (r run) pagesPerSecond() float64 { return float64(r.Pages) / r.WallS }

func (r run) String() string {
	text := fmt.Sprintf("round %d  %-6s %d pages in %.2f s, %.2f CPU s", r.Round+1, r.Subject, r.Pages, r.WallS, r.CPUs)
	switch {
	case r.Cut:
		text += ", cut"
	case r.Failed:
		text += fmt.Sprintf(", failed with exit %d\n%s", r.Exit, strings.TrimSpace(r.Talk))
	}
	return text
}

// measure runs a subject once, against a new server.
func (g *rig) measure(ctx context.Context, s subject, round int) (run, error) {
	dir := filepath.Join(g.dir, fmt.Sprintf("%s-%d", s.name, round))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return run{}, err
	}
	defer os.RemoveAll(dir)
	srv, err := startServer(ctx, g.self, g.web)
	if err != nil {
		return run{}, err
	}
	r, err := execute(ctx, s, srv.addr, dir, g.timeout)
	if err != nil {
		srv.kill()
		return run{}, err
	}
	r.Round = round
	r.served, err = srv.finish()
	return r, err
}

// lingering is how long a run's output may stay open after its end.
const lingering = 2 * time.Second

// execute runs the process of a subject. A run that fails or is cut is a result.
func execute(ctx context.Context, s subject, addr, dir string, timeout time.Duration) (run, error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	argv := s.command(addr, dir)
	var talk tail
	cmd := exec.CommandContext(limited, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = environment(os.Environ(), dir)
	cmd.Stderr = &talk
	cmd.WaitDelay = lingering
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return run{}, err
	}
	rss := watchRSS(cmd.Process.Pid)
	_ = cmd.Wait() // what ended it is in ProcessState
	wall := time.Since(begin)
	seen := rss.stop()
	if ctx.Err() != nil {
		return run{}, ctx.Err()
	}
	r := run{
		Subject: s.name, WallS: wall.Seconds(), CPUs: cpuSeconds(cmd.ProcessState), MaxRSS: maxRSS(cmd.ProcessState, seen),
		Exit: cmd.ProcessState.ExitCode(),
	}
	r.Cut = limited.Err() != nil && !cmd.ProcessState.Exited()
	r.Failed = !slices.Contains(s.exits, r.Exit)
	if r.Failed {
		r.Talk = string(talk)
	}
	return r, nil
}

// environment is env without what would change a crawler's settings, and with a home that no settings lie in.
func environment(env []string, home string) []string {
	kept := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(strings.ToLower(entry), "=")
		return strings.HasSuffix(name, "_proxy") || strings.HasPrefix(name, "crawl_") || strings.HasPrefix(name, "xdg_") ||
			name == "home" || name == "gogc" || name == "gomemlimit" || name == "godebug"
	})
	return append(kept, "HOME="+home)
}

func cpuSeconds(p *os.ProcessState) float64 { return (p.UserTime() + p.SystemTime()).Seconds() }

// tail keeps the end of what is written to it.
type tail []byte

const tailBytes = 2 << 10

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	*t = append(*t, b...)
	if extra := len(*t) - tailBytes; extra > 0 {
		*t = slices.Delete(*t, 0, extra)
	}
	return len(b), nil
}
