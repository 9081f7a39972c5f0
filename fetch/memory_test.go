package fetch

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// holdAll has the client's memory held by another body, until release is called.
func holdAll(t *testing.T, c *Client) (release func()) {
	t.Helper()
	other := c.memory.open(0)
	for _, n := range []int64{c.memory.most, c.memory.total - c.memory.most} {
		if err := other.take(t.Context(), n, forWindow); err != nil {
			t.Fatal(err)
		}
	}
	return other.end
}

// TestWaitDoesNotCount: the time in which a body waits for memory is not taken from its timeout.
func TestWaitDoesNotCount(t *testing.T) {
	const timeout, wait = 800 * time.Millisecond, 500 * time.Millisecond
	half := strings.Repeat("x", 1<<20)
	late := make(chan struct{})
	p := newPeer(t, func(c *peerConn) {
		if _, ok := c.request(); ok {
			c.say("HTTP/1.1 200 OK\r\nContent-Length: 2097152\r\n\r\n" + half)
			<-late
			c.say(half)
		}
	})
	c := newClient(t, Config{Timeout: timeout})
	release := holdAll(t, c)
	defer time.AfterFunc(wait, release).Stop()
	defer time.AfterFunc(timeout+wait/2, func() { close(late) }).Stop()
	res := mustFetch(t, c, p.url("/"))
	if res.Truncated != Whole || len(res.Body) != 2<<20 || res.Waited < wait/2 || res.Took > timeout {
		t.Errorf("%q, %v, %d bytes, waited %v, took %v", res.Truncated, res.BodyErr, len(res.Body), res.Waited, res.Took)
	}
}

// TestNoMemory: what is cut for want of memory says so, whether it came so far or was to be decoded.
func TestNoMemory(t *testing.T) {
	text := pseudoText(4 << 20)
	for _, tt := range []struct {
		name    string
		payload []byte
		coding  string
		body    int // bytes, at least
	}{
		{"as sent", []byte(text), "identity", firstBytes},
		{"decoded", bytes.Repeat(gzipped(t, strings.Repeat(text[:2000], 10)), 80), "gzip", 0},
		{"window", encoded(t, text[:100<<10], "br"), "br", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			const patience = 500 * time.Millisecond // long enough for a busy machine to come as far as the body
			p := newPeer(t, answering(answer(tt.payload, "Content-Encoding: "+tt.coding)))
			c := newClient(t, Config{Timeout: patience})
			release := holdAll(t, c)
			res := mustFetch(t, c, p.url("/"))
			if res.Truncated != TruncatedTime || !errors.Is(res.BodyErr, errPatience) || res.DecodeErr != nil {
				t.Errorf("%q, %v, %v", res.Truncated, res.BodyErr, res.DecodeErr)
			}
			if len(res.Body) < tt.body || len(res.Body) > freeBytes || res.Waited < patience {
				t.Errorf("%d bytes after %v", len(res.Body), res.Waited)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer time.AfterFunc(patience/2, cancel).Stop()
			_, err := c.Fetch(ctx, Request{URL: p.url("/")})
			wantError(t, err, PhaseBody, CodeCanceled)
			release()
			if c.memory.used != res.share.held {
				t.Errorf("%d bytes are still held", c.memory.used)
			}
			if res := mustFetch(t, c, p.url("/")); res.Truncated != Whole {
				t.Errorf("with memory again: %q, %v", res.Truncated, res.BodyErr)
			}
		})
	}
}

// TestDecodingBeginsAnew: decoding that finds no memory at once ends with the same body.
func TestDecodingBeginsAnew(t *testing.T) {
	text := pseudoText(600 << 10)
	for _, coding := range []string{"gzip", "br", "zstd"} {
		t.Run(coding, func(t *testing.T) {
			b := newBudget(leastBudget(8<<20, false), mostOfBody(8<<20, false))
			other := b.open(time.Second) // it is first, and leaves nothing but loans
			if err := other.take(t.Context(), freeBytes+1, forBody); err != nil {
				t.Fatal(err)
			}
			defer other.end()
			d := &decoders{bufs: new(buffers)}
			s := b.open(time.Second)
			out := d.decode(t.Context(), s, encoded(t, text, coding), []string{coding}, 8<<20)
			if out.err != nil || string(out.body.b) != text || b.lent == 0 {
				t.Errorf("%v, %d bytes lent", out.err, b.lent)
			}
			d.bufs.put(out.body)
			s.end()
			if b.lent != 0 {
				t.Errorf("%d bytes lent in the end", b.lent)
			}
		})
	}
}
