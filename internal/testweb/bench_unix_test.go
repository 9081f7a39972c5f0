//go:build unix

package testweb

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"
)

func BenchmarkPage(b *testing.B) {
	s := newSite(b, Config{Hosts: 50})
	c := composer{site: s}
	var bytes, n int
	for b.Loop() {
		p := place{n % 50, n / 50 % 40}
		r := c.answer(address{inSlot, p}, nil)
		bytes += len(r.body)
		n++
	}
	b.ReportMetric(float64(bytes)/float64(n), "B/page")
}

func BenchmarkLocate(b *testing.B) {
	s := newSite(b, Config{Hosts: 50})
	var targets [][]byte
	for n := range 40 {
		targets = append(targets, s.appendTarget(nil, place{7, n}))
	}
	for n := 0; b.Loop(); n++ {
		s.locate("www07.test", targets[n%len(targets)])
	}
}

// BenchmarkServe asks over 4 connections of the loopback with clients that throw bodies away, and reports the CPU time
// of the process: server, clients and kernel together.
func BenchmarkServe(b *testing.B) {
	s := newSite(b, Config{Hosts: 50})
	srv, err := s.Start()
	if err != nil {
		b.Fatal(err)
	}
	defer srv.Close()

	const conns = 4
	var requests []string
	for e := range s.Expected() {
		if a, _ := s.find(e.URL); s.kindOf(a.place) != page {
			continue
		}
		authority, target := cutURL([]byte(e.URL))
		requests = append(requests, "GET "+string(target)+" HTTP/1.1\r\nHost: "+string(authority)+"\r\n\r\n")
	}
	work := make(chan string)
	done := make(chan error, conns)
	for range conns {
		go func() { done <- drain(srv.Addr(), work) }()
	}
	cpu, begin, n := cpuTime(b), time.Now(), 0
	for b.Loop() {
		select {
		case work <- requests[n%len(requests)]:
		case err := <-done:
			b.Fatal(err)
		}
		n++
	}
	close(work)
	for range conns {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(1000*(cpuTime(b)-cpu).Seconds()/float64(n), "cpu-s/1k")
	b.ReportMetric(float64(n)/time.Since(begin).Seconds(), "req/s")
}

func drain(addr string, work <-chan string) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 64<<10)
	for request := range work {
		if _, err := io.WriteString(conn, request); err != nil {
			return err
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return err
		}
		resp.Body.Close()
	}
	return nil
}

func cpuTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
