package seen

import "errors"

// OpenExact opens the set in the folder dir, or makes an empty one there. c says what the filter in front promises and
// costs; the seed is the folder's once it is there, and a c.Seed that is another one is ErrMismatch. An error of 1% in
// front is enough: it only decides how many new keys are looked up in vain.
//
// The folder holds runs of ascending hashes, 5 bytes each among 10^8 (8.5 at worst), and as much again for a while when
// all are merged. A hash is written when 2^20 new ones have gathered or at Sync, and again each time its run is merged:
// about six times on the way to 10^8, 30 bytes. Runs are merged beside the calls, by one goroutine that Close ends.
//
// Sync makes durable what was added. A process that ends without Close loses at most what was added after the last
// Sync: those keys are new again, and nothing that was never added is ever seen.
//
// Opening reads every run once, checks every page, and remakes the front: so there is no second file that could say
// something else. That takes 20 ms of CPU for each million keys. If there are more than c.ExpectedItems by then, the front
// is made in one layer for them and a quarter more, as far as c.MaxBytes allows.
//
// One set at a time has the folder open: for another the error is ErrLocked. What is damaged is ErrDamaged, with file
// and byte.
func OpenExact(dir string, c Config) (*Exact, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return openExact(dir, c, nil)
}

func openExact(dir string, c Config, before func(step, file string) error) (*Exact, error) {
	own, err := openHashRuns(dir, c, before)
	if err != nil {
		return nil, err
	}
	front, err := frontOf(own)
	if err != nil {
		return nil, errors.Join(err, own.letGo())
	}
	e := NewExact(front, own)
	e.own = own
	return e, nil
}

// frontOf makes a filter of all that the runs hold. Their hashes ascend, so it fills from front to end.
func frontOf(r *hashRuns) (*Scalable, error) {
	c := r.config
	c.ExpectedItems = max(c.ExpectedItems, keysOf(r.runs)/4*5)
	if c.Validate() != nil {
		c = r.config // the cap does not allow one layer for all
	}
	front, err := NewScalable(c)
	if err != nil {
		return nil, err
	}
	for _, p := range r.runs {
		err := p.each(func(hashes []uint64) error {
			front.Add(hashes)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return front, nil
}

// Sync makes everything added so far durable. Over a look-up of others it does nothing.
func (e *Exact) Sync() error {
	if e.own == nil {
		return nil
	}
	return e.own.sync()
}

// Close does Sync, ends what goes on beside it, and lets go of the folder. After that nothing can be looked up or added.
// Over a look-up of others it does nothing.
func (e *Exact) Close() error {
	if e.own == nil {
		return nil
	}
	return e.own.close()
}

// Abandon lets go of the folder as Close does, but without Sync: what is in no run by then is forgotten. Over a look-up of
// others it does nothing.
func (e *Exact) Abandon() error {
	if e.own == nil {
		return nil
	}
	return e.own.letGo()
}
