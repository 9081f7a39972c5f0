package fetch

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestHeadOnly: an answer to HEAD has a head and no body, whatever the head says of one, over both protocols.
func TestHeadOnly(t *testing.T) {
	srv, _ := h2Server(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Method", r.Method)
		switch r.URL.Path {
		case "/long":
			w.Header().Set("Content-Length", "99999999")
		case "/packed":
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Length", "20")
		case "/gone":
			w.WriteHeader(http.StatusGone)
		}
	})
	for _, off := range []bool{false, true} {
		for _, tt := range []struct {
			target string
			status int
		}{{"/", 200}, {"/long", 200}, {"/packed", 200}, {"/gone", 410}} {
			t.Run(fmt.Sprintf("%s HTTP/1.1 %v", tt.target, off), func(t *testing.T) {
				c := newClient(t, Config{InsecureTLS: true, DisableHTTP2: off, MaxBodyBytes: 1 << 10, Capture: true})
				res, err := c.Fetch(t.Context(), Request{URL: mustParse(t, srv.URL+tt.target), HeadOnly: true})
				if err != nil {
					t.Fatal(err)
				}
				defer res.Release()
				if res.Status != tt.status || res.Header.Get("X-Method") != "HEAD" {
					t.Errorf("status %d by method %q", res.Status, res.Header.Get("X-Method"))
				}
				if len(res.Payload)+len(res.Body) > 0 || res.Truncated != Whole || res.BodyErr != nil || res.DecodeErr != nil {
					t.Errorf("body %q %q, truncated %q, %v, %v", res.Payload, res.Body, res.Truncated, res.BodyErr, res.DecodeErr)
				}
			})
		}
	}
}

// TestHeadWithBody: a server that sends a body although it was asked for the head alone has it taken for no other answer.
func TestHeadWithBody(t *testing.T) {
	p := newPeer(t, func(c *peerConn) {
		for {
			head, ok := c.request()
			if !ok {
				return
			}
			body := "HTTP/1.1 500 no answer\r\nContent-Length: 0\r\n\r\n"
			if strings.HasPrefix(head, "GET ") {
				body = "hello"
			}
			c.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
		}
	})
	c := newClient(t, Config{})
	res, err := c.Fetch(t.Context(), Request{URL: p.url("/"), HeadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	res.Release()
	wantHello(t, c, p.url("/"))
}
