package main

import (
	"errors"
	"flag"
	"net/url"
	"runtime"
	"strconv"
	"strings"

	"github.com/gocolly/colly/v2"
)

const collyName = "colly"

// colly is a process of this program that crawls with Colly.
func (g *rig) colly() subject {
	return subject{
		name: collyName, version: "github.com/gocolly/colly/v2 " + moduleVersion("github.com/gocolly/colly/v2"), exits: []int{0},
		command: func(addr, _ string) []string { return g.client(collyCommand, addr, g.seeds) },
	}
}

// client is the command line of this program as one of the crawlers.
func (g *rig) client(command, addr, urls string) []string {
	return []string{g.self, command, "--addr", addr, "--urls", urls, "--concurrency", strconv.Itoa(g.concurrency)}
}

// clientFlags are what the crawlers of this program are told.
type clientFlags struct {
	addr        string // where all hosts are
	concurrency int
	urls        []string
}

func parseClient(command string, args []string) (clientFlags, error) {
	var c clientFlags
	var file string
	fs := flag.NewFlagSet(command, flag.ContinueOnError)
	fs.StringVar(&c.addr, "addr", "", "")
	fs.StringVar(&file, "urls", "", "")
	fs.IntVar(&c.concurrency, "concurrency", runtime.NumCPU(), "")
	err := fs.Parse(args)
	if err == nil {
		c.urls, err = readLines(file)
	}
	return c, err
}

// runColly crawls the hosts of the seeds the way Colly's documentation does, except that it obeys robots.txt and takes a
// URL with a fragment for the URL without.
func runColly(args []string) error {
	c, err := parseClient(collyCommand, args)
	if err != nil {
		return err
	}
	collector := colly.NewCollector(colly.Async(true))
	collector.IgnoreRobotsTxt = false
	collector.WithTransport(transport(c))
	for _, seed := range c.urls {
		u, err := url.Parse(seed)
		if err != nil {
			return err
		}
		collector.AllowedDomains = append(collector.AllowedDomains, u.Hostname())
	}
	if err := collector.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: c.concurrency}); err != nil {
		return err
	}
	follow := func(attr string) colly.HTMLCallback {
		return func(e *colly.HTMLElement) {
			target, _, _ := strings.Cut(e.Request.AbsoluteURL(e.Attr(attr)), "#")
			// An error is a URL that was visited, is out of scope or is no URL: no reason to stop.
			_ = e.Request.Visit(target)
		}
	}
	collector.OnHTML("a[href], area[href]", follow("href"))
	collector.OnHTML("iframe[src], frame[src]", follow("src"))
	for _, seed := range c.urls {
		err := collector.Visit(seed)
		if _, met := errors.AsType[*colly.AlreadyVisitedError](err); err != nil && !met { // met: an earlier seed links to it
			return err
		}
	}
	collector.Wait()
	return nil
}
