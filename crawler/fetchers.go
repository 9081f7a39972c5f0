package crawler

import (
	"context"
	"sync"
)

// fetchers are the goroutines of a run that fetch: as many as are wanted, which may change meanwhile.
type fetchers struct {
	mu     sync.Mutex // guards all below
	wanted int
	begin  func() *fetcher // starts one; nil: there is no run to start it in
	all    map[*fetcher]struct{}
}

// fetcher is one of them.
type fetcher struct {
	end  context.CancelFunc // of its wait for work
	busy bool               // it has work; guarded by fetchers.mu
}

// open starts the fetchers of a run.
func (f *fetchers) open(begin func() *fetcher) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begin, f.all = begin, make(map[*fetcher]struct{})
	f.fit()
}

// close keeps more from being started. Those at work end with their run.
func (f *fetchers) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begin = nil
}

// resize changes how many are wanted. More are started at once. Of those that are too many the ones without work end at
// once, and then each that comes to the end of its work, until there are as few as are wanted.
func (f *fetchers) resize(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wanted = n
	f.fit()
}

func (f *fetchers) fit() {
	for one := range f.all {
		if len(f.all) <= f.wanted {
			break
		}
		if !one.busy {
			one.end()
			delete(f.all, one)
		}
	}
	for f.begin != nil && len(f.all) < f.wanted {
		f.all[f.begin()] = struct{}{}
	}
}

// rest says that one has no work, and reports whether it is to wait for more.
func (f *fetchers) rest(one *fetcher) (wanted bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one.busy = false
	if len(f.all) > f.wanted {
		delete(f.all, one)
	}
	_, wanted = f.all[one]
	return wanted
}

// work says that one has work.
func (f *fetchers) work(one *fetcher) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one.busy = true
}
