package crawler

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"crawl/seen"
)

// exactCheck compares what exact mode has behind the filter with the admission log: it holds the hashes of the log's first
// entries, each of them and no other.
type exactCheck struct {
	*verifier
	behind *seen.Hashes // nil: there is nothing, or it cannot be used
	upto   uint64       // number up to which it has the log

	asked            []uint64
	lacks, firstLack uint64
}

// begin opens it. What is there but cannot be used is damage.
func (c *exactCheck) begin() (err error) {
	dir := filepath.Join(c.dir, exactDir)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	c.behind, err = seen.OpenHashes(dir, c.cfg.Seen.Seed)
	switch {
	case isUseless(err):
		c.found(partFilter, dir, -1, err.Error())
		return nil
	case err != nil:
		return err
	}
	if c.upto = c.behind.Len(); c.upto > c.cut.Admissions.Entries {
		c.found(partFilter, dir, -1, fmt.Sprintf("it holds %d hashes, and %d URLs were admitted", c.upto, c.cut.Admissions.Entries))
	}
	return nil
}

// isUseless reports whether an error says that what is behind the filter is to be made again.
func isUseless(err error) bool {
	return errors.Is(err, seen.ErrDamaged) || errors.Is(err, seen.ErrFormat) || errors.Is(err, seen.ErrNewer) || errors.Is(err, seen.ErrMismatch)
}

// take looks for the hash of an admission.
func (c *exactCheck) take(seq, hash uint64) error {
	if c.behind == nil || seq > c.upto {
		return nil
	}
	if c.asked = append(c.asked, hash); len(c.asked) < linkBatch && seq < c.upto {
		return nil
	}
	found := make([]bool, len(c.asked))
	if err := c.behind.Find(c.asked, found); err != nil {
		c.upto = 0
		if isUseless(err) {
			c.found(partFilter, filepath.Join(c.dir, exactDir), -1, err.Error())
			return nil
		}
		return err
	}
	for i, there := range found {
		if there {
			continue
		}
		if c.lacks == 0 {
			c.firstLack = seq - uint64(len(found)-1-i)
		}
		c.lacks++
	}
	c.asked = c.asked[:0]
	return nil
}

// end says what is missing, and closes.
func (c *exactCheck) end() error {
	if c.behind == nil {
		return nil
	}
	if c.lacks > 0 {
		c.found(partFilter, filepath.Join(c.dir, exactDir), -1,
			fmt.Sprintf("it lacks the hashes of %d admitted URLs, number %d the first", c.lacks, c.firstLack))
	}
	return c.behind.Close()
}
