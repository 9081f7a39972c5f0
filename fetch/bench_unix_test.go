//go:build unix

package fetch

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
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

// serveBenchmark answers on loopback until stdin ends, which tells it that the benchmark is over.
func serveBenchmark() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(l.Addr())
	page := []byte(fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", benchHead, benchBodyBytes, strings.Repeat("x", benchBodyBytes)))
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go serveBenchmarkConn(nc, page)
		}
	}()
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

func startBenchServer(b *testing.B) canon.URL {
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
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return mustParse(b, "http://"+strings.TrimSpace(address)+"/page?x=1")
}

// BenchmarkFetch sets Fetch beside net/http's Transport, both reading whole pages of 34 KiB over one kept connection.
// cpu-ns/op is the CPU time of the client's process.
func BenchmarkFetch(b *testing.B) {
	u := startBenchServer(b)
	b.Run("client=crawl", func(b *testing.B) {
		c, err := New(Config{AllowPrivate: []string{"all"}})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		found, err := c.Resolve(b.Context(), u)
		if err != nil {
			b.Fatal(err)
		}
		measure(b, func() (int, error) {
			res, err := c.Fetch(b.Context(), Request{URL: u, Addrs: found.Addrs})
			if err != nil {
				return 0, err
			}
			defer res.Release()
			return len(res.Body), nil
		})
	})
	b.Run("client=transport", func(b *testing.B) {
		tr := &http.Transport{DisableCompression: true}
		defer tr.CloseIdleConnections()
		body := make([]byte, 0, benchBodyBytes+512)
		measure(b, func() (int, error) {
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
		})
	})
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

func measure(b *testing.B, fetch func() (int, error)) {
	b.ReportAllocs()
	b.SetBytes(benchBodyBytes)
	start := cpuTime(b)
	for b.Loop() {
		n, err := fetch()
		if err != nil {
			b.Fatal(err)
		}
		if n != benchBodyBytes {
			b.Fatalf("body of %d bytes", n)
		}
	}
	b.ReportMetric(float64(cpuTime(b)-start)/float64(b.N), "cpu-ns/op")
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
