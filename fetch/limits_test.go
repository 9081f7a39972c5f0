package fetch

import (
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestLimits: each limit of time ends what it is for, with its own phase, and says how long it was.
func TestLimits(t *testing.T) {
	cfg := Config{
		Timeout: 60 * time.Second, DNSTimeout: 2 * time.Second, ConnectTimeout: 3 * time.Second, TLSTimeout: 4 * time.Second,
		FirstByteTimeout: 5 * time.Second,
	}
	silent := func(nc net.Conn) { io.Copy(io.Discard, nc) }
	for _, tt := range []struct {
		name, url string
		serve     func(net.Conn) // nil: nobody connects
		took      time.Duration
		phase     Phase
		code      Code
		message   string
	}{
		{"dial", "http://127.0.0.1/", nil, 3 * time.Second, PhaseDial, CodeTimeout, "no connection in 3s"},
		{"tls", "https://127.0.0.1/", silent, 4 * time.Second, PhaseTLS, CodeTimeout, "no handshake in 4s"},
		{"first byte", "http://127.0.0.1/", silent, 5 * time.Second, PhaseHead, CodeTimeout, "no answer in 5s"},
		{"head that drips", "http://127.0.0.1/", func(nc net.Conn) {
			readRequest(nc)
			for _, c := range []byte("HTTP/1.1 200 and so on") {
				<-time.After(time.Second)
				if _, err := nc.Write([]byte{c}); err != nil {
					return
				}
			}
		}, 5 * time.Second, PhaseHead, CodeTimeout, "no answer in 5s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := pipeClient(t, cfg, tt.serve)
				if tt.serve == nil {
					c.dialer = func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
						<-ctx.Done()
						return nil, ctx.Err()
					}
				}
				start := time.Now()
				_, err := c.Fetch(t.Context(), Request{URL: mustParse(t, tt.url)})
				if took := time.Since(start); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				if e := wantError(t, err, tt.phase, tt.code); tt.message != "" && e.Err.Error() != tt.message && !strings.HasSuffix(e.Err.Error(), ": "+tt.message) {
					t.Errorf("message %q, want %q", e.Err, tt.message)
				}
			})
		})
	}
}

// TestMinRate: a body that comes too slowly is cut in about a window, and keeps what came; one that is slow but fast enough
// is not, nor one that pauses for less than a window.
func TestMinRate(t *testing.T) {
	// sends says n bytes at each interval.
	sends := func(head string, n int, every time.Duration, times int) func(net.Conn) {
		return func(nc net.Conn) {
			readRequest(nc)
			io.WriteString(nc, head)
			tick := time.NewTicker(every)
			defer tick.Stop()
			for range times {
				<-tick.C
				if _, err := io.WriteString(nc, strings.Repeat("x", n)); err != nil {
					return
				}
			}
		}
	}
	const head = "HTTP/1.1 200 OK\r\n\r\n"
	for _, tt := range []struct {
		name      string
		cfg       Config
		serve     func(net.Conn)
		took      time.Duration
		body      int
		truncated Truncation
		message   string
	}{
		// The deadline of the head, at 20 s, is the first that passes.
		{"drips", Config{Timeout: time.Hour}, sends(head, 1, 1100*time.Millisecond, 1e6), 20 * time.Second, 18, TruncatedTime, "18 bytes in 20s: less than min_rate, 100 a second"},
		{"stops after a start", Config{Timeout: time.Hour}, sends(head+strings.Repeat("x", 5000), 1, time.Hour, 1), 35 * time.Second, 5000, TruncatedTime,
			"0 bytes in 15s: less than min_rate, 100 a second"},
		{"just fast enough", Config{Timeout: time.Hour}, sends(head, 130, time.Second, 100), 100 * time.Second, 13000, Whole, ""},
		{"pauses", Config{Timeout: time.Hour}, sends(head+strings.Repeat("x", 5000), 5000, 14*time.Second, 4), 56 * time.Second, 25000, Whole, ""},
		{"any rate", Config{Timeout: time.Hour, MinRate: -1}, sends(head, 1, time.Minute, 3), 3 * time.Minute, 3, Whole, ""},
		{"deadline of the whole", Config{Timeout: 30 * time.Second}, sends(head, 200, 1100*time.Millisecond, 1e6), 30 * time.Second, 27 * 200, TruncatedTime, "not whole in 30s"},
		{"http-06 in chunks", Config{Timeout: time.Hour}, sends("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n", 1, 1100*time.Millisecond, 1e6), 20 * time.Second, 18,
			TruncatedTime, "24 bytes in 20s: less than min_rate, 100 a second"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := pipeClient(t, tt.cfg, tt.serve)
				start := time.Now()
				res, err := c.Fetch(t.Context(), Request{URL: mustParse(t, "http://127.0.0.1/")})
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				if len(res.Body) != tt.body || res.Truncated != tt.truncated {
					t.Errorf("%d bytes, %q; want %d, %q", len(res.Body), res.Truncated, tt.body, tt.truncated)
				}
				if tt.message != "" && (res.BodyErr == nil || res.BodyErr.Error() != tt.message) {
					t.Errorf("%v, want %s", res.BodyErr, tt.message)
				}
				res.Release()
			})
		})
	}
}
