package crawler

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"crawl/fetch"
)

// How long a fetcher rests when the machine has no file or port left for it, or a proxy that has worked does not.
const (
	exhaustedPause = 250 * time.Millisecond
	proxyPause     = time.Second
)

// nothingLearnt reports whether a request failed for reasons that are not its host's: the run is over, the machine has no
// file or port left, or a proxy by which others were reached before has gone. The lease is then given back; but at the end
// of a run after a pause, which takes load off. So a proxy that is away for an hour costs no page. One that never worked is
// taken for a mistake, and its pages fail.
func (c *Crawler) nothingLearnt(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return err != nil
	}
	failure, ok := errors.AsType[*fetch.Error](err)
	switch {
	case !ok:
		return false
	case failure.Code() == fetch.CodeExhausted:
		c.exhausted.warn(c.log, "this machine has no file or port left for a connection: lower concurrency, or raise its limits", "err", err)
		pauseFor(ctx, exhaustedPause)
		return true
	case failure.Code() == fetch.CodeProxy:
		proxy, ok := errors.AsType[*fetch.ProxyError](err)
		if !ok {
			return false // of a Fetcher that does not keep to its contract
		}
		has := c.proxies.hasWorked(proxy.Proxy)
		then := "the pages that need it fail"
		if has {
			then = "what needs it waits for it; crawl stop keeps the state"
		}
		c.proxies.quiet.warn(c.log, "the proxy does not work: "+then, "proxy", proxy.Proxy, "err", proxy.Err)
		if has {
			pauseFor(ctx, proxyPause)
		}
		return has
	}
	return false
}

// pauseFor waits, or until ctx ends.
func pauseFor(ctx context.Context, d time.Duration) {
	pause := time.NewTimer(d)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	}
}

// byProxy reports whether a request failed at its proxy.
func byProxy(err error) bool {
	failure, ok := errors.AsType[*fetch.Error](err)
	return ok && failure.Code() == fetch.CodeProxy
}

// proxies are those by which something came.
type proxies struct {
	quiet quietly
	names sync.Map // URLs
}

// worked notes that something came by a proxy; empty for none.
func (p *proxies) worked(name string) {
	if name != "" && !p.hasWorked(name) {
		p.names.Store(name, true)
	}
}

func (p *proxies) hasWorked(name string) bool {
	_, has := p.names.Load(name)
	return has
}

// quietFor is how long the log says nothing more of one thing: with a thousand fetchers it would say little else.
const quietFor = 10 * time.Second

// quietly warns of one thing now and then.
type quietly struct{ at atomic.Int64 } // Unix nanoseconds

func (q *quietly) warn(log *slog.Logger, text string, args ...any) {
	now, last := time.Now().UnixNano(), q.at.Load()
	if time.Duration(now-last) >= quietFor && q.at.CompareAndSwap(last, now) {
		log.Warn(text, args...)
	}
}
