package store

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// formatVersion is raised whenever an older program could not read what a newer one writes.
const formatVersion = 1

// Format is what format.json says, readable before anything else of a crawl is touched.
type Format struct {
	Version int    `json:"version"`
	CrawlID string `json:"crawl_id"`
}

// directory knows the names in a crawl's directory.
type directory string

func (d directory) path(name string) string { return filepath.Join(string(d), name) }
func (d directory) log() string             { return d.path("log") }
func (d directory) done() string            { return d.path("done") }
func (d directory) pages() string           { return d.path("pages") }
func (d directory) format() string          { return d.path("format.json") }
func (d directory) stateDB() string         { return d.path("state.db") }
func (d directory) newStateDB() string      { return d.path("state.db.new") }
func (d directory) seenDB() string          { return d.path("seen.db") }
func (d directory) twin() string            { return d.path("checkpoint") }
func (d directory) lockFile() string        { return d.path("lock") }
func (d directory) lockNote() string        { return d.path("lock.holder") }

// Extensions of the files in log and done, and in pages.
const (
	logExt  = ".log"
	pageExt = ".jsonl"
)

// Holds reports whether dir holds a crawl.
func Holds(dir string) bool { return directory(dir).check() == nil }

// check returns nil when d holds a crawl: state.db appears whole, by rename, as the last step of Create. ErrNotCrawl:
// it holds none, or one that was never finished. A crawl that has lost its state.db is damage.
func (d directory) check() error {
	_, err := os.Stat(d.stateDB())
	if !errors.Is(err, fs.ErrNotExist) {
		return err // nil, or why we may not look
	}
	if p, err := d.readTwin(); err == nil && p.Number > 1 {
		return &DamageError{File: d.stateDB(), Offset: -1,
			Err: fmt.Errorf("%w, checkpoint %d was the last", errMissing, p.Number)}
	}
	return fmt.Errorf("%w: %s", ErrNotCrawl, d)
}

// clear removes what an unfinished Create left, and nothing else.
func (d directory) clear() error {
	errs := []error{
		removeNumbered(d.log(), logExt, 0), removeNumbered(d.done(), logExt, 0), removeNumbered(d.pages(), pageExt, 0),
	}
	for _, file := range []string{d.twin(), d.seenDB(), d.newStateDB()} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (d directory) writeFormat() (Format, error) {
	f := Format{Version: formatVersion, CrawlID: rand.Text()}
	text, err := json.Marshal(f)
	if err != nil {
		return Format{}, err
	}
	return f, WriteWhole(d.format(), append(text, '\n'), 0o644)
}

func (d directory) readFormat() (Format, error) {
	text, err := os.ReadFile(d.format())
	if err != nil {
		return Format{}, cannotOpen(d.format(), err)
	}
	var f Format
	if err := json.Unmarshal(text, &f); err != nil {
		return Format{}, &DamageError{File: d.format(), Offset: -1, Err: err}
	}
	if f.Version != formatVersion {
		return f, &VersionError{Dir: string(d), Got: f.Version, Know: formatVersion}
	}
	return f, nil
}

// ReadFormat returns what dir's format.json says. It fails with ErrNotCrawl, a *VersionError or a *DamageError.
func ReadFormat(dir string) (Format, error) {
	d := directory(dir)
	if err := d.check(); err != nil {
		return Format{}, err
	}
	return d.readFormat()
}

// readTwin reads the file beside state.db that holds the same checkpoint.
func (d directory) readTwin() (point, error) {
	data, err := os.ReadFile(d.twin())
	if err != nil {
		return point{}, cannotOpen(d.twin(), err)
	}
	p, err := decodePoint(data)
	if err != nil {
		return point{}, &DamageError{File: d.twin(), Offset: -1, Err: err}
	}
	return p, nil
}
