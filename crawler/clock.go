package crawler

import "time"

// clock measures how long a crawl has run.
type clock struct {
	before  time.Duration // of earlier runs
	began   time.Time     // of this run; zero: it has not begun
	paused  time.Duration // in this run, pauses that have ended
	pausing time.Time     // when the present pause began; zero: none
}

func (c *clock) start(now time.Time) { c.began = now }

func (c *clock) pause(now time.Time) {
	if c.pausing.IsZero() {
		c.pausing = now
	}
}

func (c *clock) unpause(now time.Time) {
	if !c.pausing.IsZero() {
		c.paused += now.Sub(c.pausing)
		c.pausing = time.Time{}
	}
}

// elapsed is the time of all runs, pauses included.
func (c *clock) elapsed(now time.Time) time.Duration {
	if c.began.IsZero() {
		return c.before
	}
	return c.before + now.Sub(c.began)
}

// active is the time of this run, pauses excluded.
func (c *clock) active(now time.Time) time.Duration {
	paused := c.paused
	if !c.pausing.IsZero() {
		paused += now.Sub(c.pausing)
	}
	return now.Sub(c.began) - paused
}

// stop ends the run: its time belongs to the earlier ones.
func (c *clock) stop(now time.Time) { *c = clock{before: c.elapsed(now)} }
