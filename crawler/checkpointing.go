package crawler

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"crawl/seen"
	"crawl/store"
)

// kickedPause is the least time between two checkpoints that are asked for: one serves all who ask meanwhile.
const kickedPause = time.Second

// checkpoints makes one every Config.CheckpointInterval, and within a second when one is asked for, until done.
func (c *Crawler) checkpoints(done <-chan struct{}) error {
	pause := min(kickedPause, c.cfg.CheckpointInterval) // asking must not put the regular one off
	last := time.Now().Add(-pause)
	next := time.NewTimer(c.cfg.CheckpointInterval)
	defer next.Stop()
	for {
		select {
		case <-done:
			return nil
		case <-c.kick:
			next.Reset(max(0, time.Until(last.Add(pause))))
			continue
		case <-next.C:
		}
		last = time.Now()
		if err := c.checkpoint(); err != nil {
			return err
		}
		next.Reset(c.cfg.CheckpointInterval)
	}
}

// checkpoint makes all that is committed durable. Only its first part holds up commits.
func (c *Crawler) checkpoint() error {
	c.checkpointing.Lock()
	defer c.checkpointing.Unlock()
	k := c.committer
	job, err := k.prepare()
	if err == nil {
		err = k.syncSights()
	}
	if err == nil {
		err = job.Commit()
	}
	for _, w := range job.waiters {
		w <- err
	}
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	k.written(job.Checkpoint)
	c.lookAtSpace()
	c.sayDamage()
	if c.cfg.OnCheckpoint != nil {
		c.cfg.OnCheckpoint(job.Cut())
	}
	// Only now: what a saved filter calls seen must be in a durable log.
	if err := errors.Join(job.filter.write(k.store.Filter()), k.syncMet(job.admitted), k.forgetSights(job.sights)); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// syncMet has the disk behind the filter follow the log, n entries of which are durable.
func (k *committer) syncMet(n uint64) error {
	err := k.met.syncTo(n)
	if !errors.Is(err, seen.ErrDamaged) {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed == nil {
		k.failed = k.remakeMet(err)
	}
	return k.failed
}

// checkpointJob is a checkpoint on its way to the disk.
type checkpointJob struct {
	*store.Checkpoint
	filter   filterPiece // may follow it
	admitted uint64      // URLs in its log
	sights   sightMark
	waiters  []chan error // are told when it is durable, or why it is not
}

// prepare cuts the order of commits here. The job that comes with an error has nothing but those to be told of it.
//
// The ledger's rows are taken before: it counts requests, not commits, and its cut need not be at one.
func (k *committer) prepare() (checkpointJob, error) {
	asked, err := k.ledger.rows()
	if err != nil {
		return checkpointJob{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	job := checkpointJob{waiters: k.waiters}
	k.waiters = nil
	if k.failed != nil {
		return job, k.failed
	}
	if err := k.collectRows(); err != nil {
		return job, err
	}
	k.books.look(k.frontier.Stats(), k.met.view())
	k.books.Deny = k.books.withCounts(k.deny.views())
	if err := k.cutSights(&job); err != nil {
		return job, err
	}
	k.store.Queue.SetPending(k.books.Counters.Reasons[Admitted] - k.books.Counters.done())
	k.books.ElapsedMS = k.clock.elapsed(time.Now()).Milliseconds()
	k.rows = append(k.rows, asked...)
	if job.Checkpoint, err = k.store.Prepare(k.rows, k.books); err != nil {
		return job, err
	}
	k.rows = nil
	job.filter, job.admitted = k.saver.next(k.met.filter), k.store.Admissions.Len()
	return job, nil
}

// collectRows adds the rows of hosts and of the shadow sample that changed since the last checkpoint.
func (k *committer) collectRows() error {
	now := time.Now()
	for _, state := range k.frontier.Changed() {
		row, err := k.hostRow(state, now)
		if err != nil {
			return err
		}
		k.rows = append(k.rows, row)
	}
	k.rows = append(k.rows, k.store.Queue.Marks(k.low)...)
	if len(k.shadow.fresh) > 0 {
		key := fmt.Sprintf("%s%020d", shadowPrefix, k.store.Last().Number+1)
		k.rows = append(k.rows, store.Row{Key: key, Value: encodeHashes(k.shadow.fresh)})
		k.shadow.fresh = nil
	}
	return nil
}

// low returns the least place of a host's tasks that are in memory: all before it, that the queue has read, is done.
func (k *committer) low(key uint64) (class uint8, depth uint32, seq uint64, ok bool) {
	host, known := k.asked[key]
	if !known {
		return 0, 0, 0, true // not known to be done
	}
	c, d, seq, ok := k.frontier.Low(host)
	return uint8(c), uint32(d), seq, ok
}

func encodeHashes(hashes []uint64) []byte {
	out := make([]byte, 0, 8*len(hashes))
	for _, h := range hashes {
		out = binary.LittleEndian.AppendUint64(out, h)
	}
	return out
}

// written notes a durable checkpoint, for the next one and for Snapshot.
func (k *committer) written(cp *store.Checkpoint) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.books.Previous = CheckpointView{
		Number: cp.Cut().Number, At: cp.Cut().At, DurationMS: cp.Duration().Milliseconds(), Bytes: cp.Bytes(),
	}
}

// saveLongWaits asks for a checkpoint when a host is to be left alone for longer than the next one is away, or has asked for
// that itself and longer than one that is asked for may take: a restart must not make us impolite.
func (c *Crawler) saveLongWaits() {
	latest, asked := c.frontier.Unsaved()
	if time.Until(latest) > c.cfg.CheckpointInterval || time.Until(asked) > kickedPause {
		c.committer.askForCheckpoint()
	}
}

func (k *committer) askForCheckpoint() {
	select {
	case k.kick <- struct{}{}:
	default: // one is asked for already, and has not begun
	}
}
