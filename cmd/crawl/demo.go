package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"time"

	"github.com/spf13/cobra"

	"crawl/crawler"
	"crawl/fetch"
	"crawl/internal/config"
	"crawl/internal/testweb"
	"crawl/store"
)

// demoFlags are the shape of the demo's web.
type demoFlags struct {
	hosts, pages int
	delay        time.Duration
	latency      time.Duration
	keep         string
}

func (a *app) demoCommand() *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Crawl a web made up in this process, and check what came of it",
		Long: `Serve a web of many hosts from this process on the loopback address, crawl it as any web would be crawled, and compare the
page records with what the web's maker knows a right crawl fetches. Needs no network and leaves nothing behind.`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), f) },
	}
	cmd.Flags().IntVar(&f.hosts, "hosts", 50, "hosts of the web")
	cmd.Flags().IntVar(&f.pages, "pages", 40, "pages a host")
	cmd.Flags().DurationVar(&f.delay, "delay", 0, "least time between two requests to a host")
	cmd.Flags().DurationVar(&f.latency, "latency", 0, "time the web takes to answer")
	cmd.Flags().StringVarP(&f.keep, "dir", "d", "", "keep the crawl in this `directory`")
	return cmd
}

func (a *app) demo(ctx context.Context, f demoFlags) error {
	if f.hosts < 1 || f.pages < 1 {
		return usagef("--hosts, --pages: want 1 or more")
	}
	site, err := testweb.New(testweb.Config{Seed: 1, Hosts: f.hosts, PagesPerHost: f.pages, Latency: f.latency})
	if err != nil {
		return &usageError{err}
	}
	server, err := site.Start()
	if err != nil {
		return err
	}
	defer server.Close()
	dir := f.keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "crawl-demo-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	a.say("serving %d hosts with %d pages each on %s", f.hosts, f.pages, server.Addr())
	before, began := usage(), time.Now()
	snapshot, err := a.crawlDemo(ctx, f, site, server, dir)
	if err != nil {
		return err
	}
	after, took := usage(), time.Since(began)
	return a.reportDemo(site, dir, snapshot, took, after.since(before))
}

func (a *app) crawlDemo(ctx context.Context, f demoFlags, site *testweb.Site, server *testweb.Server, dir string) (crawler.Snapshot, error) {
	settings := config.Default()
	settings.HostDelay = config.Duration(f.delay)
	settings.Contact = "demo@localhost"
	cfg, err := crawlConfig(settings)
	if err != nil {
		return crawler.Snapshot{}, err
	}
	all, err := fetch.ParseConnectTo(server.ConnectTo())
	if err != nil {
		return crawler.Snapshot{}, err
	}
	cfg.Fetch.ConnectTo = []fetch.ConnectTo{all}
	s := a.newSession(dir, sessionFlags{}, true)
	s.attach(&cfg)
	c, err := crawler.Create(dir, cfg, seedsFrom(site.Seeds()))
	if err != nil {
		return crawler.Snapshot{}, explain(err, dir)
	}
	snapshot, err := s.crawl(ctx, c)
	s.stderr.setStatus("")
	return snapshot, err
}

func seedsFrom(urls []string) iter.Seq2[crawler.Seed, error] {
	return func(yield func(crawler.Seed, error) bool) {
		for _, url := range urls {
			if !yield(crawler.Seed{URL: url}, nil) {
				return
			}
		}
	}
}

// errDemo: the crawl did not do what it should have.
var errDemo = errors.New("the crawl differs from what the web's maker expects")

func (a *app) reportDemo(site *testweb.Site, dir string, s crawler.Snapshot, took time.Duration, used usageFigures) error {
	reader, err := store.OpenReader(dir)
	if err != nil {
		return err
	}
	var readErr error
	report := site.Check(fetchedURLs(reader, &readErr), testweb.Nofollow)
	if readErr != nil {
		return readErr
	}
	if !a.quiet {
		fmt.Fprint(a.stderr, table(s))
	}
	seconds := took.Seconds()
	fmt.Fprintf(a.stdout, "state       %s\n", s.State)
	fmt.Fprintf(a.stdout, "fetched     %d\nmissed      %d\ntwice       %d\nunexpected  %d\n", report.Fetched, len(report.Missed),
		len(report.Twice), len(report.Unexpected))
	fmt.Fprintf(a.stdout, "pages/s     %.0f\nMB/s        %.1f\n", float64(report.Fetched)/seconds, float64(s.BodyBytes)/1e6/seconds)
	if used.known {
		fmt.Fprintf(a.stdout, "cpu         %.2f s per 1,000 pages, the web's server included\n",
			used.cpu.Seconds()*1000/float64(max(report.Fetched, 1)))
		fmt.Fprintf(a.stdout, "memory      %s at the peak, the web's server included\n", size(used.peakBytes))
	}
	if !report.OK() {
		fmt.Fprintln(a.stderr, report)
		return errDemo
	}
	return nil
}

// fetchedURLs yields the URLs that were requested: robots.txt may have kept a recorded one from being.
func fetchedURLs(reader *store.Reader, failure *error) iter.Seq[string] {
	return func(yield func(string) bool) {
		for page, err := range reader.Pages(context.Background(), store.Query{}) {
			if err != nil {
				*failure = err
				return
			}
			if page.Status != 0 && !yield(page.URL) {
				return
			}
		}
	}
}
