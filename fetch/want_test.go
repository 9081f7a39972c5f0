package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
)

// TestWant: what is not wanted of a body is not received, and said to be left out. Over HTTP/2 the connection lives on.
func TestWant(t *testing.T) {
	srv, conns := h2Server(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		if r.URL.Path == "/unknown" {
			w.(http.Flusher).Flush()
		}
		fmt.Fprint(w, "0123456789")
	})
	for _, tt := range []struct {
		target string
		want   int64
		body   string
		cut    bool
	}{
		{"/", 10, "0123456789", false},
		{"/", 99, "0123456789", false},
		{"/", 9, "", true},
		{"/", 0, "", true},
		{"/", -1, "", true},
		{"/unknown", 9, "012345678", true},
		{"/unknown", 10, "0123456789", false},
		{"/unknown", 0, "", true},
	} {
		for _, off := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %d HTTP/1.1 %v", tt.target, tt.want, off), func(t *testing.T) {
				c := newClient(t, Config{InsecureTLS: true, DisableHTTP2: off, Capture: true})
				before := conns.Load()
				for range 2 {
					res, err := c.Fetch(t.Context(), Request{URL: mustParse(t, srv.URL+tt.target), Want: func(status int, h http.Header) int64 {
						if status != 200 || h.Get("Content-Type") != "image/png" {
							t.Errorf("asked for %d %v", status, h)
						}
						return tt.want
					}})
					if err != nil {
						t.Fatal(err)
					}
					if string(res.Body) != tt.body || (res.Truncated == TruncatedLength) != tt.cut || errors.Is(res.BodyErr, ErrUnwanted) != tt.cut {
						t.Errorf("%q %q %v", res.Body, res.Truncated, res.BodyErr)
					}
					res.Release()
				}
				if n := conns.Load() - before; n != 1 && !(off && tt.cut && n == 2) {
					t.Errorf("%d connections", n)
				}
			})
		}
	}
}
