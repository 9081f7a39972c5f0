package seen

import (
	"context"
	"fmt"
)

// cursor goes through a run in order.
type cursor struct {
	run    *run
	page   int      // next one to decode
	hashes []uint64 // decoded and not passed yet
	all    []uint64 // memory of hashes
	raw    []byte   // pages read and not decoded yet
	buf    []byte   // memory of raw
	one    pageBuf
}

func newCursor(r *run) *cursor {
	return &cursor{run: r, buf: make([]byte, readPages*pageBytes)}
}

// fill decodes the next page into hashes. False: the run is at its end.
func (c *cursor) fill() (bool, error) {
	left := len(c.run.fence) - c.page
	if left == 0 {
		return false, nil
	}
	if len(c.raw) == 0 {
		c.raw = c.buf[:min(left, readPages)*pageBytes]
		if err := c.run.read(c.raw, c.run.offset(c.page)); err != nil {
			return false, err
		}
	}
	copy(c.one[:pageBytes], c.raw)
	c.raw = c.raw[pageBytes:]
	p, err := c.run.open(&c.one, c.page)
	if err != nil {
		return false, err
	}
	if c.all, err = p.appendTo(c.all[:0]); err != nil {
		return false, c.run.damaged(c.run.offset(c.page), err)
	}
	// Pages are in order, and so are the hashes in each: what is left to check is where they meet.
	last := c.all[len(c.all)-1]
	if c.page++; left == 1 && last != c.run.last || left > 1 && last >= c.run.fence[c.page] {
		return false, c.run.damaged(c.run.offset(c.page-1), errPageForm)
	}
	c.hashes = c.all
	return true, nil
}

// each passes all hashes of the run on, a page at a time. It checks every page, and that they hold as many as the run
// says.
func (r *run) each(pass func(hashes []uint64) error) error {
	c := newCursor(r)
	var keys uint64
	for {
		more, err := c.fill()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		keys += uint64(len(c.hashes))
		if err := pass(c.hashes); err != nil {
			return err
		}
	}
	if keys != r.keys {
		return r.damaged(r.base, errKeys(keys, r.keys))
	}
	return nil
}

// mergeRuns writes the hashes of all runs to w, each once. It ends early with ctx.
func mergeRuns(ctx context.Context, w *runWriter, runs []*run) error {
	var m merger
	for _, r := range runs {
		c := newCursor(r)
		more, err := c.fill()
		if err != nil {
			return err
		}
		if more {
			m = append(m, c)
		}
	}
	for i := len(m)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	for len(m) > 0 {
		c := m[0]
		if err := w.add(c.hashes[0]); err != nil {
			return err
		}
		if c.hashes = c.hashes[1:]; len(c.hashes) == 0 {
			if err := m.refill(ctx); err != nil {
				return err
			}
		}
		m.down(0)
	}
	return nil
}

// merger is a heap of cursors, by their next hash.
type merger []*cursor

// refill gives the first cursor its next page, or takes it out.
func (m *merger) refill(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	more, err := (*m)[0].fill()
	if !more {
		n := len(*m) - 1
		(*m)[0] = (*m)[n]
		*m = (*m)[:n]
	}
	return err
}

// down moves cursor i to where it belongs below.
func (m merger) down(i int) {
	if i >= len(m) {
		return
	}
	c := m[i]
	h := c.hashes[0]
	for {
		child := 2*i + 1
		if child >= len(m) {
			break
		}
		if child+1 < len(m) && m[child+1].hashes[0] < m[child].hashes[0] {
			child++
		}
		if h <= m[child].hashes[0] {
			break
		}
		m[i] = m[child]
		i = child
	}
	m[i] = c
}

func errKeys(got, want uint64) error { return fmt.Errorf("holds %d hashes, says %d", got, want) }
