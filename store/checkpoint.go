package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"
)

// A Checkpoint is a cut that is being made durable. Prepare takes it between two commits, on the committer; Commit does
// the slow part and may run elsewhere while the committer goes on. One at a time: Commit must have returned before the
// next Prepare.
type Checkpoint struct {
	store *Store
	cut   Cut
	rows  []Row
	syncs []pendingSync
	tails []pendingTail

	outdated []*run // whose files may go once it is durable

	bytes, tailBytes int
	began, finished  time.Time
}

// Prepare notes the lengths of all files at this point in the order of commits. Rows are those that changed since the
// last checkpoint, and stay as they are until Commit returns; books is kept as JSON. A write that failed before fails it
// again, and for good; rows and books that cannot be kept fail it without further harm.
func (s *Store) Prepare(rows []Row, books any) (*Checkpoint, error) {
	if err := s.failure(); err != nil {
		return nil, err
	}
	if err := checkRows(rows); err != nil {
		return nil, err
	}
	text, err := json.Marshal(books)
	if err != nil {
		return nil, fmt.Errorf("encode the books: %w", err)
	}
	pages, refused, err := s.outputMarks()
	if err := cmp.Or(err, s.Admissions.blocks.series.failed, s.Done.blocks.series.failed); err != nil {
		return nil, s.fail(err)
	}
	queue := s.Queue.Coverage() // before the runs: it must not lead them
	manifest, outdated := s.runs.cut()
	now := time.Now()
	cp := &Checkpoint{
		store: s, rows: rows, began: now,
		tails: []pendingTail{s.Admissions.takeTail(), s.Done.takeTail()}, outdated: outdated,
		syncs: []pendingSync{
			s.Admissions.blocks.series.takeSync(), s.Done.blocks.series.takeSync(), s.Pages.series.takeSync(), s.Refused.series.takeSync(),
		},
		cut: Cut{
			Number: s.last.Number + 1, At: now.UTC().Truncate(time.Millisecond), Books: text,
			Admissions: s.Admissions.mark(), Done: s.Done.mark(), Pages: pages, Refused: refused, Runs: manifest,
			Queue: queue,
		},
	}
	s.last = cp.cut
	s.state.fresh.add(rows)
	return cp, nil
}

// Commit makes the checkpoint durable: files first, then state.db, then the file that readers use. After an error no
// later one is tried, and the last one that reached state.db stands.
func (c *Checkpoint) Commit() error {
	if err := c.store.failure(); err != nil {
		return err
	}
	encoded, err := c.write()
	if err == nil {
		err = c.publish(encoded)
	}
	if err == nil {
		err = c.clean()
	}
	if err != nil {
		return c.store.fail(err)
	}
	c.finished = time.Now()
	return nil
}

// write syncs the files and puts the checkpoint into state.db. It returns the checkpoint's encoding.
func (c *Checkpoint) write() ([]byte, error) {
	for _, s := range c.syncs {
		if err := s.run(); err != nil {
			return nil, err
		}
	}
	for _, tail := range c.tails {
		n, err := tail.write()
		if err != nil {
			return nil, err
		}
		c.tailBytes += n
	}
	encoded, err := point{Cut: c.cut, crawlID: c.store.crawlID}.encode()
	if err != nil {
		return nil, err
	}
	c.bytes, err = c.store.state.write(c.cut.Number, encoded, c.rows)
	return encoded, err
}

// publish writes the twin that readers use beside a running crawl: bbolt's lock is exclusive.
func (c *Checkpoint) publish(encoded []byte) error {
	c.bytes += len(encoded)
	return writeWhole(c.store.dir.fs, c.store.dir.twin(), encoded, 0o600)
}

// clean removes the files that neither state.db nor its twin names any more.
func (c *Checkpoint) clean() error {
	for _, tail := range c.tails {
		if err := tail.file.clean(); err != nil {
			return err
		}
	}
	return c.store.runs.clean(c.outdated)
}

// TailBytes returns what a committed checkpoint appended to the open tails of the logs.
func (c *Checkpoint) TailBytes() int { return c.tailBytes }

// Cut returns what the checkpoint holds.
func (c *Checkpoint) Cut() Cut { return c.cut }

// Bytes returns what a committed checkpoint wrote besides the full blocks of the logs and the outputs themselves.
func (c *Checkpoint) Bytes() int { return c.bytes + c.tailBytes }

// Duration returns how long a committed checkpoint took, from Prepare to the end.
func (c *Checkpoint) Duration() time.Duration { return c.finished.Sub(c.began) }
