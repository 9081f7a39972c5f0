// Command bench crawls one made-up web with crawl and with its peers, and says what each paid for a page.
//
// It promises figures that can be compared: the same web, a fresh server for each run, every crawler a process of its own
// whose CPU time the system counts, rounds that take turns, and the server's journal, not the crawler, says what was
// fetched. The price is that the web is on the loopback address of one machine: pages/s is a matter of that machine and
// its load, and says nothing of crawls that wait for a network. Trust the ratios.
//
// The subjects: crawl as built from this repository; wget2; Colly, in a small program (colly.go); and net/http fetching
// a given list, no page parsed, as the floor.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"crawl/internal/testweb"
)

// The commands by which bench runs itself as another process.
const (
	serveCommand = "serve"
	collyCommand = "colly"
	floorCommand = "floor"
)

type options struct {
	web         testweb.Config
	concurrency int
	rounds      int
	timeout     time.Duration
	subjects    string
	source      string
	crawl       string
	json        bool
	check       bool
	maxRatio    float64
}

func main() {
	signal.Ignore(syscall.SIGPIPE) // a closed pipe is an error like others, after which the temporary folder goes
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := dispatch(ctx, os.Args[1:])
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func dispatch(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case serveCommand:
			return serve(args[1:])
		case collyCommand:
			return runColly(args[1:])
		case floorCommand:
			return runFloor(args[1:])
		}
	}
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	return bench(ctx, o)
}

func parseOptions(args []string) (options, error) {
	var o options
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.IntVar(&o.web.Hosts, "hosts", 50, "hosts of the web")
	fs.IntVar(&o.web.PagesPerHost, "pages", 40, "pages a host")
	fs.DurationVar(&o.web.Latency, "latency", 0, "time the web takes to answer")
	fs.Uint64Var(&o.web.Seed, "seed", 1, "another number is another web of the same shape")
	fs.BoolVar(&o.web.KeepAlive, "keep-alive", true, "the web says Connection: keep-alive, without which wget2 ends each connection")
	fs.IntVar(&o.concurrency, "concurrency", 16, "requests in flight")
	fs.IntVar(&o.rounds, "rounds", 3, "runs of each subject, which take turns")
	fs.DurationVar(&o.timeout, "timeout", time.Minute, "end a run after this time and say that it was cut")
	fs.StringVar(&o.subjects, "subjects", strings.Join(allSubjects, ","), "what to run, in this order")
	fs.StringVar(&o.source, "source", "..", "folder of the module to build crawl from")
	fs.StringVar(&o.crawl, "crawl", "", "run this binary of crawl instead of building one")
	fs.BoolVar(&o.json, "json", false, "print JSON, with each run")
	fs.BoolVar(&o.check, "check", false, "fail if crawl misses or doubles a page, or costs more than --max-ratio times wget2")
	fs.Float64Var(&o.maxRatio, "max-ratio", 1.8, "what --check allows")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	return o, o.validate(fs.Args())
}

// validate reports every problem at once.
func (o options) validate(rest []string) error {
	errs := []error{o.web.Validate()}
	if len(rest) > 0 {
		errs = append(errs, fmt.Errorf("want flags only, got %q", rest))
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"concurrency", o.concurrency}, {"rounds", o.rounds}} {
		if f.value < 1 {
			errs = append(errs, fmt.Errorf("--%s: want at least 1, got %d", f.name, f.value))
		}
	}
	if o.timeout <= 0 {
		errs = append(errs, fmt.Errorf("--timeout: want more than 0, got %v", o.timeout))
	}
	for i, name := range o.names() {
		if !slices.Contains(allSubjects, name) || slices.Contains(o.names()[:i], name) {
			errs = append(errs, fmt.Errorf("--subjects: want some of %s, each once, got %q", strings.Join(allSubjects, ","), name))
		}
	}
	if o.check && !slices.Contains(o.names(), oursName) {
		errs = append(errs, fmt.Errorf("--check: --subjects leaves out %q", oursName))
	}
	return errors.Join(errs...)
}

func (o options) names() []string { return strings.Split(o.subjects, ",") }

// bench runs the rounds and prints what came of them.
func bench(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "crawl-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	g, err := newRig(ctx, o, dir)
	if err != nil {
		return err
	}
	var runs []run
	for round := range o.rounds {
		for _, s := range g.subjects {
			r, err := g.measure(ctx, s, round)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			fmt.Fprintln(os.Stderr, r)
			runs = append(runs, r)
		}
	}
	return report(g.options, summarise(g.subjects, runs), runs)
}

// report prints the figures, and fails if --check finds fault with them.
func report(o options, list []summary, runs []run) error {
	var err error
	if o.json {
		err = printJSON(os.Stdout, o, list, runs)
	} else {
		err = printTable(os.Stdout, list)
	}
	if o.check {
		err = errors.Join(err, checkOurs(o, list))
	}
	return err
}

// rig is what all runs have in common.
type rig struct {
	options
	dir      string // for everything that is written
	self     string // this program
	seeds    string // file of the roots of all hosts
	list     string // file of all URLs that a right crawl fetches
	subjects []subject
}

func newRig(ctx context.Context, o options, dir string) (*rig, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	g := &rig{options: o, dir: dir, self: self, seeds: filepath.Join(dir, "seeds"), list: filepath.Join(dir, "list")}
	site, err := testweb.New(o.web)
	if err != nil {
		return nil, err
	}
	g.web = site.Config() // for the report: with its defaults
	if err := writeLines(g.seeds, site.Seeds()); err != nil {
		return nil, err
	}
	if err := writeLines(g.list, inTurn(site.Expected())); err != nil {
		return nil, err
	}
	for _, name := range o.names() {
		s, err := g.subject(ctx, name)
		if errors.Is(err, errAbsent) {
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		g.subjects = append(g.subjects, s)
	}
	return g, nil
}

func (g *rig) subject(ctx context.Context, name string) (subject, error) {
	switch name {
	case oursName:
		return g.ours(ctx)
	case wget2Name:
		return g.wget2(ctx)
	case collyName:
		return g.colly(), nil
	}
	return g.floor(), nil
}

func writeLines(path string, lines []string) error {
	return os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600)
}

func readLines(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	return strings.Fields(string(text)), err
}
