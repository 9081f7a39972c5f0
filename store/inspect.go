package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Inspection reads a crawl's directory that nobody runs, all of it, and changes nothing in it. Damage does not end it: each
// part returns what is wrong with it as *DamageErrors, and reading goes on behind them where it can. Any other error is
// one of the disk or of ctx. It holds the directory's lock, and memory for a block and a run's index; it is for one
// goroutine.
type Inspection struct {
	dir   directory
	lock  *lock  // nil: the disk takes no writes, so nobody runs the crawl
	store *Store // as the checkpoint has it, only read; nil: no checkpoint is left
	at    point

	fromTwin bool // the checkpoint is of the twin: state.db is of no use
	rows     bool // state.db has the checkpoint's rows
}

// Inspect begins with what says where everything ends: format.json, state.db and the checkpoint's twin. It fails with
// ErrNotCrawl, a *VersionError, or a *LockedError while the crawl runs.
func Inspect(dir string, cfg Config) (i *Inspection, damage []error, err error) {
	i = &Inspection{dir: directory{root: dir, fs: cfg.withDefaults().FS}}
	var found findings
	if err := found.note(i.dir.check()); err != nil {
		return nil, nil, err
	}
	format, err := i.dir.readFormat()
	if err := found.note(err); err != nil {
		return nil, nil, err
	}
	if i.lock, err = i.dir.claimUnlessReadOnly(); err != nil {
		return nil, nil, err
	}
	err = i.begin(format, &found)
	if err != nil {
		return nil, nil, errors.Join(err, i.Close())
	}
	return i, found.damage, nil
}

// claimUnlessReadOnly takes the lock. On a disk that takes no writes nobody can run the crawl.
func (d directory) claimUnlessReadOnly() (*lock, error) {
	held, err := d.claim()
	if errors.Is(err, syscall.EROFS) {
		return nil, nil
	}
	return held, err
}

func (i *Inspection) begin(format Format, found *findings) error {
	state := newState(i.dir)
	state.readOnly = true
	i.store = &Store{dir: i.dir, state: state}
	p, err := state.open()
	sound, err := found.soundly(err)
	if err != nil {
		return err
	}
	twin, err := i.dir.readTwin()
	twinSound, err := found.soundly(err)
	if err != nil {
		return err
	}
	switch {
	case sound && twinSound && twin.crawlID == p.crawlID && twin.Number > p.Number:
		found.add(&DamageError{File: i.dir.stateDB(), Offset: -1,
			Err: fmt.Errorf("it holds checkpoint %d, but %d was written", p.Number, twin.Number)})
		i.at, i.fromTwin = twin, true
	case sound:
		i.at, i.rows = p, true
		if twinSound && twin.crawlID != p.crawlID {
			found.add(&DamageError{File: i.dir.twin(), Offset: -1, Err: errors.New("it is of another crawl")})
		}
	case twinSound:
		i.at, i.fromTwin = twin, true
	default:
		err := state.close()
		i.store = nil
		return err
	}
	if format.CrawlID != "" && format.CrawlID != i.at.crawlID {
		found.add(&DamageError{File: i.dir.format(), Offset: -1,
			Err: fmt.Errorf("it names crawl %q, the last checkpoint is of crawl %q", format.CrawlID, i.at.crawlID)})
	}
	return i.open(found)
}

// open opens the logs and the runs of the checkpoint.
func (i *Inspection) open(found *findings) (err error) {
	s := i.store
	if s.codec, err = newCodec(); err != nil {
		return err
	}
	s.Admissions, s.Done = readAdmissionLog(i.dir, s.codec), readDoneLog(i.dir, s.codec)
	for _, log := range []struct {
		blocks *blockLog
		tail   tailOwner
		end    LogMark
	}{{s.Admissions.blocks, s.Admissions, i.at.Admissions}, {s.Done.blocks, s.Done, i.at.Done}} {
		damage, err := log.blocks.survey(log.end.block())
		if err != nil {
			return err
		}
		found.add(damage...)
		log.blocks.show()
		if _, err := log.tail.restoreTail(log.end); found.note(err) != nil {
			return err
		}
	}
	s.runs, err = readRuns(i.dir.fs, i.dir.runs(), i.at.Runs)
	return err
}

// findings collects damage.
type findings struct{ damage []error }

func (f *findings) add(damage ...error) { f.damage = append(f.damage, damage...) }

// note keeps damage, and returns any other error.
func (f *findings) note(err error) error {
	_, err = f.soundly(err)
	return err
}

// soundly keeps damage, returns any other error, and says whether there was none at all. A place that the disk cannot read
// is damage.
func (f *findings) soundly(err error) (sound bool, _ error) {
	if p, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, syscall.EIO) {
		err = &DamageError{File: p.Path, Offset: -1, Err: p.Err}
	}
	if _, damaged := errors.AsType[*DamageError](err); damaged {
		f.add(err)
		return false, nil
	}
	return err == nil, err
}

// Cut returns the checkpoint that is inspected; false where none is left.
func (i *Inspection) Cut() (Cut, bool) {
	if i.store == nil {
		return Cut{}, false
	}
	return i.at.Cut, true
}

// FromTwin reports whether state.db is of no use, and its twin stands in for it: without the rows.
func (i *Inspection) FromTwin() bool { return i.fromTwin }

// Rows calls fn for the rows of the checkpoint whose key starts with prefix; for none where they are lost.
func (i *Inspection) Rows(prefix string, fn func(key string, value []byte) error) error {
	if !i.rows {
		return nil
	}
	return i.store.Rows(prefix, fn)
}

// CheckRuns is Store.VerifyRuns.
func (i *Inspection) CheckRuns(ctx context.Context) []error { return i.store.VerifyRuns(ctx) }

// Filter returns the crawl's filter file.
func (i *Inspection) Filter() *FilterFile { return i.store.Filter() }

// Close gives the directory free.
func (i *Inspection) Close() error {
	var errs []error
	if s := i.store; s != nil {
		errs = append(errs, s.state.close())
		if s.Admissions != nil {
			errs = append(errs, s.Admissions.blocks.closeReading(), s.Done.blocks.closeReading())
		}
		if s.runs != nil {
			errs = append(errs, s.runs.close())
		}
		if s.codec != nil {
			s.codec.close()
		}
	}
	if i.lock != nil {
		errs = append(errs, i.lock.release())
	}
	return errors.Join(errs...)
}
