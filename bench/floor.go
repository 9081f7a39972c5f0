package main

import (
	"context"
	"io"
	"iter"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"

	"crawl/internal/testweb"
)

const floorName = "floor"

// floor is a process of this program that fetches what a right crawl fetches, told beforehand, and parses nothing: what
// net/http alone costs.
func (g *rig) floor() subject {
	return subject{
		name: floorName, version: "net/http of " + runtime.Version(), exits: []int{0},
		command: func(addr, _ string) []string { return g.client(floorCommand, addr, g.list) },
	}
}

// runFloor asks for each URL of the list once, over kept-alive connections to each host.
func runFloor(args []string) error {
	c, err := parseClient(floorCommand, args)
	if err != nil {
		return err
	}
	rt := transport(c)
	work := make(chan string)
	done := make(chan error, c.concurrency)
	for range c.concurrency {
		go func() { done <- fetchAll(rt, work) }()
	}
	for _, u := range c.urls {
		select {
		case work <- u:
		case err := <-done:
			return err
		}
	}
	close(work)
	for range c.concurrency {
		if err := <-done; err != nil {
			return err
		}
	}
	return nil
}

func fetchAll(rt http.RoundTripper, work <-chan string) error {
	for u := range work {
		req, err := http.NewRequest(http.MethodGet, u, nil)
		if err != nil {
			return err
		}
		resp, err := rt.RoundTrip(req)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// transport reaches every host at one address, and keeps as many connections as crawl does.
func transport(c clientFlags) *http.Transport {
	var d net.Dialer
	return &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return d.DialContext(ctx, network, c.addr)
		},
		MaxIdleConns:        max(256, 2*c.concurrency),
		MaxIdleConnsPerHost: c.concurrency,
	}
}

// inTurn lists the expected URLs one of each host at a time: fetched at once, they share few connections to a host.
func inTurn(expected iter.Seq[testweb.Expect]) []string {
	type entry struct {
		turn int
		url  string
	}
	turns := map[string]int{}
	var entries []entry
	for e := range expected {
		entries = append(entries, entry{turns[e.Host], e.URL})
		turns[e.Host]++
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return a.turn - b.turn })
	urls := make([]string, len(entries))
	for i, e := range entries {
		urls[i] = e.url
	}
	return urls
}

// moduleVersion returns the version of a module in this program.
func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return ""
}
