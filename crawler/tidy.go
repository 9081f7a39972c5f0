package crawler

import (
	"context"
	"errors"

	"crawl/store"
)

// tidy has the store make and merge its runs until done. A run that is found damaged is made again from the logs.
func (c *Crawler) tidy(ctx context.Context, done <-chan struct{}) error {
	st := c.committer.store
	for {
		did, err := st.Work(ctx)
		switch damage, damaged := errors.AsType[*store.DamageError](err); {
		case ctx.Err() != nil:
			return nil
		case damaged:
			c.log.Warn("a run is made again from the logs", "err", damage)
			did = true
		case err != nil:
			return err
		}
		if did {
			continue
		}
		select {
		case <-done:
			return nil
		case <-st.Wake():
		}
	}
}
