package frontier_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"crawl/canon"
	"crawl/frontier"
)

// Every fetcher runs this loop. None of them ever waits for one host.
func Example() {
	f, err := frontier.New(frontier.Config{HostDelay: 10 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	for i, s := range []string{"https://a.example/1", "https://a.example/2", "https://b.example/1"} {
		u, err := canon.Parse(s)
		if err != nil {
			fmt.Println(err)
			return
		}
		f.Add(frontier.Task{URL: u, Seq: uint64(i + 1), Class: frontier.Seed, Visit: 1})
	}
	for {
		l, err := f.Lease(context.Background())
		if errors.Is(err, frontier.ErrDrained) {
			break
		}
		switch l.Kind {
		case frontier.Resolve:
			err = f.Resolved(l, []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:443")}, time.Hour)
		case frontier.Robots:
			err = f.Permit(l, nil, 24*time.Hour, frontier.Outcome{Requested: true, Took: time.Millisecond})
		case frontier.Page:
			fmt.Println(l.URL)
			err = f.Done(l, frontier.Outcome{Requested: true, Took: time.Millisecond})
		}
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println("queued", f.Stats().Queued)
	// Unordered output:
	// https://a.example/1
	// https://b.example/1
	// https://a.example/2
	// queued 0
}
