package crawler

import (
	"context"
	"errors"
)

// endedBy returns the error of background work, nil for what only the end of its context made fail.
func endedBy(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return nil
	}
	return err
}

// tidy has the store make and merge its runs until done. A run that is found damaged is made again from the logs.
func (c *Crawler) tidy(ctx context.Context, done <-chan struct{}) error {
	st := c.committer.store
	for {
		did, err := st.Work(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			if did, err = c.mend(ctx, err); err != nil {
				return endedBy(ctx, err)
			}
		}
		if did {
			c.lookAtSpace()
			continue
		}
		select {
		case <-done:
			return nil
		case <-st.Wake():
		}
	}
}
