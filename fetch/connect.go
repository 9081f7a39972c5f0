package fetch

import (
	"context"
	"sync"
)

// connection returns a connection for h: a kept one, one of HTTP/2 that others use, or a new one.
func (c *Client) connection(ctx context.Context, h hop) (*conn, error) {
	if h.Fresh {
		return c.dial(ctx, h)
	}
	if cn := c.idle.take(h.URL.Origin(), h.via, h.places()); cn != nil {
		return cn, nil
	}
	if h.URL.Scheme() != "https" || c.h2 == nil {
		return c.dial(ctx, h)
	}
	first, done := c.firsts.begin(h.URL.Origin())
	if first == nil {
		defer done()
	} else if err := h.wait(ctx, first); err != nil {
		return nil, err
	}
	if cn := c.idle.take(h.URL.Origin(), h.via, h.places()); cn != nil {
		return cn, nil
	}
	return c.dial(ctx, h)
}

// wait waits until first is closed.
func (h hop) wait(ctx context.Context, first <-chan struct{}) error {
	ctx, cancel := context.WithDeadline(ctx, h.deadline)
	defer cancel()
	select {
	case <-first:
		return nil
	case <-ctx.Done():
		return newError(h.URL, PhaseDial, overdue(ctx.Err(), "no connection", h.deadline.Sub(h.start)))
	}
}

// firsts lets one fetch of an origin connect while others wait to see whether they can share its connection, as HTTP/2 lets
// them. They wait once: where they cannot, or it fails, each connects for itself.
type firsts struct {
	mu       sync.Mutex // guards underway
	underway map[string]chan struct{}
}

// begin returns what to wait for; nil for who comes first, who says when it is done.
func (f *firsts) begin(origin string) (wait <-chan struct{}, done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if first, ok := f.underway[origin]; ok {
		return first, nil
	}
	if f.underway == nil {
		f.underway = make(map[string]chan struct{})
	}
	first := make(chan struct{})
	f.underway[origin] = first
	return nil, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.underway, origin)
		close(first)
	}
}
