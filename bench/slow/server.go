package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	goodBytes = 20 << 10
	slowBytes = 64 << 10 // more than comes before the crawler gives up
)

// web is the server's side.
type web struct {
	plan
	filler string

	mu          sync.Mutex // guards all below
	first, last time.Time  // good page, once the slow hosts are there
	asked       int        // good pages
	early       int        // of these, before that
	slowNow     int
	slowMost    int
	done        chan struct{}
}

// serveWeb answers until stdin ends. It prints its address, and, once all good pages were asked for, how many a second that
// was from the time when nineteen in twenty of the slow hosts were at it, how long it took, and how many slow answers were
// under way at most.
func serveWeb(p plan) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	w := &web{plan: p, filler: strings.Repeat("x", goodBytes), done: make(chan struct{})}
	go http.Serve(l, w)
	go func() {
		<-w.done
		w.mu.Lock()
		defer w.mu.Unlock()
		took := w.last.Sub(w.first).Seconds()
		fmt.Println(float64(w.asked-w.early)/took, took, w.slowMost)
	}()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func (w *web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/robots.txt":
		http.NotFound(rw, r)
	case strings.HasPrefix(r.Host, "slow"):
		w.drip(rw, r)
	default:
		w.page(rw, r)
	}
}

// page is a good page. The first one has links to all others.
func (w *web) page(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Content-Type", "text/html")
	if r.URL.Path == "/" {
		for i := 1; i < w.pages; i++ {
			fmt.Fprintf(rw, "<a href=/%d>%d</a>\n", i, i)
		}
	}
	io.WriteString(rw, w.filler)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = time.Now()
	w.asked++
	if w.first.IsZero() {
		if w.early = w.asked; w.slowMost*20 >= w.slow*19 {
			w.first = w.last
		}
	}
	if w.asked == w.good*w.pages {
		close(w.done)
	}
}

// drip sends a page at so many bytes a second.
func (w *web) drip(rw http.ResponseWriter, r *http.Request) {
	w.count(1)
	defer w.count(-1)
	rw.Header().Set("Content-Type", "text/html")
	rw.Header().Set("Content-Length", fmt.Sprint(slowBytes))
	if r.URL.Path == "/" {
		io.WriteString(rw, "<a href=/1>1</a> <a href=/2>2</a> <a href=/3>3</a> <a href=/4>4</a> ") // it goes on being slow
	}
	out := http.NewResponseController(rw)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for sent := 0; sent < slowBytes; sent += w.rate {
		if _, err := io.WriteString(rw, w.filler[:min(w.rate, slowBytes-sent, goodBytes)]); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}

func (w *web) count(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slowNow += n
	w.slowMost = max(w.slowMost, w.slowNow)
}
