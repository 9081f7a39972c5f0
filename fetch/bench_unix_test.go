//go:build unix

package fetch

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"crawl/canon"
)

func TestMain(m *testing.M) {
	if os.Getenv(benchServerVariable) != "" {
		serveBenchmark()
		return
	}
	goleak.VerifyTestMain(m)
}

// benchServerVariable turns the test binary into the server of the benchmarks: in a process of its own its CPU time is not
// counted.
const benchServerVariable = "CRAWL_FETCH_BENCH_SERVER"

// benchBodyBytes is the mean of HTML pages on the web.
const benchBodyBytes = 34 << 10

const benchHead = "HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Sun, 01 Mar 2026 12:00:00 GMT\r\n" +
	"Content-Type: text/html; charset=utf-8\r\nVary: Accept-Encoding\r\nCache-Control: max-age=600\r\n" +
	"Last-Modified: Sat, 28 Feb 2026 09:00:00 GMT\r\nX-Frame-Options: SAMEORIGIN\r\n"

// serveBenchmark answers on loopback, plainly and over TLS, until stdin ends, which tells it that the benchmark is over.
func serveBenchmark() {
	page := []byte(fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", benchHead, benchBodyBytes, strings.Repeat("x", benchBodyBytes)))
	srv := httptest.NewUnstartedServer(nil)
	srv.StartTLS() // for its certificate
	cfg := &tls.Config{Certificates: srv.TLS.Certificates, NextProtos: []string{"http/1.1"}}
	for _, secure := range []bool{false, true} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(l.Addr())
		if secure {
			l = tls.NewListener(l, cfg)
		}
		go func() {
			for {
				nc, err := l.Accept()
				if err != nil {
					return
				}
				go serveBenchmarkConn(nc, page)
			}
		}()
	}
	io.Copy(io.Discard, os.Stdin)
}

func serveBenchmarkConn(nc net.Conn, page []byte) {
	defer nc.Close()
	for in := bufio.NewReader(nc); ; {
		for line := []byte(nil); string(line) != "\r\n"; {
			var err error
			if line, err = in.ReadSlice('\n'); err != nil {
				return
			}
		}
		if _, err := nc.Write(page); err != nil {
			return
		}
	}
}

// startBenchServer returns a page of the server, and the same over TLS.
func startBenchServer(b *testing.B) (plain, secure canon.URL) {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), benchServerVariable+"=1")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
	})
	var at [2]string
	if _, err := fmt.Fscan(stdout, &at[0], &at[1]); err != nil {
		b.Fatal(err)
	}
	return mustParse(b, "http://"+at[0]+"/page?x=1"), mustParse(b, "https://"+at[1]+"/page?x=1")
}

// BenchmarkFetch sets Fetch beside net/http's Transport, both reading whole pages of 34 KiB over one kept connection:
// plainly, with the bytes captured, and over TLS. The two take turns, each with benchTurn fetches, so that other load on the
// machine weighs on both alike. cpu-ns/op is the CPU time of a fetch by Fetch, x-transport its ratio to the Transport's.
func BenchmarkFetch(b *testing.B) {
	plain, secure := startBenchServer(b)
	for _, tt := range []struct {
		name string
		url  canon.URL
		cfg  Config
	}{
		{"plain", plain, Config{}},
		{"captured", plain, Config{Capture: true}},
		{"tls", secure, Config{}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			ours, theirs := ourFetch(b, tt.url, tt.cfg), transportFetch(b, tt.url)
			b.ReportAllocs()
			var our, their time.Duration
			for b.Loop() {
				our += cpuOf(b, ours)
				their += cpuOf(b, theirs)
			}
			b.ReportMetric(float64(our)/float64(b.N*benchTurn), "cpu-ns/op")
			b.ReportMetric(float64(our)/float64(their), "x-transport")
		})
	}
}

const benchTurn = 200

// cpuOf does a turn.
func cpuOf(b *testing.B, fetch func() (int, error)) time.Duration {
	start := cpuTime(b)
	for range benchTurn {
		n, err := fetch()
		if err != nil {
			b.Fatal(err)
		}
		if n != benchBodyBytes {
			b.Fatalf("body of %d bytes", n)
		}
	}
	return cpuTime(b) - start
}

func ourFetch(b *testing.B, u canon.URL, cfg Config) func() (int, error) {
	cfg.AllowPrivate, cfg.InsecureTLS = []string{"all"}, true
	c, err := New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	found, err := c.Resolve(b.Context(), u)
	if err != nil {
		b.Fatal(err)
	}
	return func() (int, error) {
		res, err := c.Fetch(b.Context(), Request{URL: u, Addrs: found.Addrs})
		if err != nil {
			return 0, err
		}
		defer res.Release()
		if cfg.Capture && res.WireSize() <= benchBodyBytes {
			b.Fatalf("%d bytes captured", res.WireSize())
		}
		return len(res.Body), nil
	}
}

func transportFetch(b *testing.B, u canon.URL) func() (int, error) {
	tr := &http.Transport{DisableCompression: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	b.Cleanup(tr.CloseIdleConnections)
	body := make([]byte, 0, benchBodyBytes+512)
	return func() (int, error) {
		req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, u.String(), nil)
		if err != nil {
			return 0, err
		}
		resp, err := tr.RoundTrip(req)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		return readInto(body, resp.Body)
	}
}

// readInto reads r to its end into the memory of b.
func readInto(b []byte, r io.Reader) (n int, err error) {
	for {
		m, err := r.Read(b[n:cap(b)])
		n += m
		switch err {
		case nil:
		case io.EOF:
			return n, nil
		default:
			return n, err
		}
	}
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
