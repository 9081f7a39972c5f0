package hostile

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The table is what failures are read by: each name is a host of its own, and each says what it does in a line.
func TestAll(t *testing.T) {
	all := All(Short())
	if len(all) < 60 {
		t.Errorf("%d behaviours, want 60 at least", len(all))
	}
	met := map[string]bool{}
	for _, b := range all {
		if met[b.Name] {
			t.Errorf("two behaviours are called %s", b.Name)
		}
		met[b.Name] = true
		if b.Does == "" || strings.ContainsRune(b.Does, '\n') || b.serve == nil {
			t.Errorf("%s: %q is not one line, or does nothing", b.Name, b.Does)
		}
		if strings.Trim(b.Name, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" {
			t.Errorf("%s is no name of a host", b.Name)
		}
		if w := b.Want; !w.None && w.Outcome == "" {
			t.Errorf("%s: nothing is wanted of its first page", b.Name)
		}
		for url := range b.Also {
			if url[0] != '/' && !strings.Contains(url, "://") {
				t.Errorf("%s: %.100q is neither a path nor a URL", b.Name, url)
			}
		}
	}
}

// No behaviour outlives its client, and none its server.
func TestServerEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	s, err := Start(Short())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var visits sync.WaitGroup
	for _, at := range s.sites {
		visits.Go(func() { visit(at) })
	}
	visits.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := s.Quiet(ctx); err != nil {
		t.Error(err)
	}
	// And with clients that stay.
	for _, at := range s.sites {
		nc, err := net.Dial("tcp", at.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// visit asks for a page, takes the start of what comes, and goes.
func visit(at *site) {
	nc, err := net.Dial("tcp", at.listener.Addr().String())
	if err != nil {
		return // what a client is told is no matter here
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(200 * time.Millisecond))
	if at.HTTPS {
		nc = tls.Client(nc, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
	}
	_, _ = io.WriteString(nc, "GET / HTTP/1.1\r\nHost: "+at.Host()+"\r\n\r\n")
	_, _ = io.CopyN(io.Discard, nc, 1000)
}

// A connection that a client leaves open is told by the name of its behaviour.
func TestQuietTells(t *testing.T) {
	s, err := Start(Short())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	nc, err := net.Dial("tcp", s.byName["banner"].listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := nc.Read(make([]byte, 1)); err != nil { // what is said shows that the connection was accepted
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Quiet(ctx); err == nil || !strings.Contains(err.Error(), "banner:1") {
		t.Errorf("a connection is left open: %v", err)
	}
}
