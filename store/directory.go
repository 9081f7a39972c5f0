package store

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"crawl/internal/vfs"
)

// formatVersion is raised whenever an older program could not read what a newer one writes.
const formatVersion = 6

// Format is what format.json says, readable before anything else of a crawl is touched.
type Format struct {
	Version int    `json:"version"`
	CrawlID string `json:"crawl_id"`
}

// directory knows the names in a crawl's directory.
type directory struct {
	root string
	fs   vfs.FS
}

// onDisk is a directory of the machine's own file system.
func onDisk(dir string) directory { return directory{root: dir, fs: vfs.OS{}} }

func (d directory) String() string          { return d.root }
func (d directory) path(name string) string { return filepath.Join(d.root, name) }
func (d directory) log() string             { return d.path("log") }
func (d directory) done() string            { return d.path("done") }
func (d directory) pages() string           { return d.path("pages") }
func (d directory) refused() string         { return d.path("refused") }
func (d directory) runs() string            { return d.path("runs") }
func (d directory) format() string          { return d.path("format.json") }
func (d directory) stateDB() string         { return d.path("state.db") }
func (d directory) newStateDB() string      { return d.path("state.db.new") }
func (d directory) seenDB() string          { return d.path("seen.db") }
func (d directory) twin() string            { return d.path("checkpoint") }
func (d directory) lockFile() string        { return d.path("lock") }
func (d directory) lockNote() string        { return d.path("lock.holder") }

// Extensions of the files in log and done, in pages, and in refused.
const (
	logExt     = ".log"
	pageExt    = ".jsonl"
	refusedExt = ".jsonl"
)

// numberedFiles are the files of one extension in a folder.
type numberedFiles struct{ dir, ext string }

// series are the folders of numbered files.
func (d directory) series() []numberedFiles {
	return []numberedFiles{
		{d.log(), logExt}, {d.log(), tailExt}, {d.done(), logExt}, {d.done(), tailExt}, {d.pages(), pageExt}, {d.refused(), refusedExt}, {d.runs(), runExt},
	}
}

// Holds reports whether dir holds a crawl, be it one that has lost its state.db.
func Holds(dir string) bool {
	err := onDisk(dir).check()
	_, damaged := errors.AsType[*DamageError](err)
	return err == nil || damaged
}

// check returns nil when d holds a crawl: state.db appears whole, by rename, as the last step of Create. ErrNotCrawl:
// it holds none, or one that was never finished. A crawl that has lost its state.db is damage.
func (d directory) check() error {
	_, err := d.fs.Stat(d.stateDB())
	if !errors.Is(err, fs.ErrNotExist) {
		return err // nil, or why we may not look
	}
	if p, err := d.readTwin(); err == nil && p.Number > 1 {
		return &DamageError{File: d.stateDB(), Offset: -1,
			Err: fmt.Errorf("%w, checkpoint %d was the last", errMissing, p.Number)}
	}
	if left, err := d.recorded(); left != "" || err != nil {
		return cmp.Or(err, error(&DamageError{File: d.stateDB(), Offset: -1,
			Err: fmt.Errorf("%w, and so is the checkpoint beside it, but %s holds page records", errMissing, left)}))
	}
	return fmt.Errorf("%w: %s", ErrNotCrawl, d)
}

// recorded returns a file of page records of a crawl, "" when there is none. A Create that was not finished has left none:
// they begin after state.db has appeared.
func (d directory) recorded() (string, error) {
	if f, err := d.readFormat(); err != nil || f.CrawlID == "" {
		return "", nil // no crawl's, so foreign refuses it
	}
	numbers, err := numbered(d.fs, d.pages(), pageExt)
	if err != nil {
		return "", err
	}
	for _, n := range numbers {
		name := numberedName(d.pages(), n, pageExt)
		if info, err := d.fs.Stat(name); err == nil && info.Size() > 0 {
			return name, nil
		}
	}
	return "", nil
}

// foreign refuses a directory that holds no crawl, but files in the places of a crawl's that no Create of ours made.
// One that ended early has left format.json, which is durable before any other of them is made.
func (d directory) foreign() error {
	f, err := d.readFormat()
	_, damaged := errors.AsType[*DamageError](err)
	_, otherVersion := errors.AsType[*VersionError](err)
	if f.CrawlID != "" || err != nil && !damaged && !otherVersion {
		return err // of another version: it may have left names that this one does not know
	}
	found, err := d.ours()
	if err != nil || found == "" {
		return err
	}
	return fmt.Errorf("%s %w", found, ErrForeign)
}

// ours returns a file that a crawl in d would write over or remove, "" when there is none.
func (d directory) ours() (string, error) {
	for _, file := range []string{d.format(), d.path("seeds"), d.path("config.yaml"), d.path("control"), d.twin(),
		d.seenDB(), d.newStateDB()} {
		_, err := d.fs.Stat(file)
		if !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
	}
	for _, s := range d.series() {
		numbers, err := numbered(d.fs, s.dir, s.ext)
		if err != nil {
			return "", err
		}
		if len(numbers) > 0 {
			return numberedName(s.dir, numbers[0], s.ext), nil
		}
	}
	return "", nil
}

// settle makes the directory's own name durable: whoever made it, a Create that was killed say, may not have. A folder
// above it that may not be read is left alone.
func (d directory) settle() error {
	above := filepath.Join(d.root, "..")
	if err := d.fs.SyncDir(above); err != nil && !errors.Is(err, fs.ErrPermission) {
		return &WriteError{File: above, Err: err}
	}
	return nil
}

// clear removes what an unfinished Create left, and nothing else.
func (d directory) clear() error {
	var errs []error
	for _, s := range d.series() {
		errs = append(errs, removeNumbered(d.fs, s.dir, s.ext, 0))
	}
	for _, file := range []string{d.twin(), d.seenDB(), d.newStateDB()} {
		errs = append(errs, removeIfThere(d.fs, file))
	}
	return errors.Join(errs...)
}

func (d directory) writeFormat() (Format, error) {
	f := Format{Version: formatVersion, CrawlID: rand.Text()}
	text, err := json.Marshal(f)
	if err != nil {
		return Format{}, err
	}
	return f, writeWhole(d.fs, d.format(), append(text, '\n'), 0o644)
}

func (d directory) readFormat() (Format, error) {
	text, err := vfs.ReadFile(d.fs, d.format())
	if err != nil {
		return Format{}, cannotOpen(d.format(), err)
	}
	var f Format
	if err := json.Unmarshal(text, &f); err != nil {
		return Format{}, &DamageError{File: d.format(), Offset: -1, Err: err}
	}
	if f.Version != formatVersion {
		return f, &VersionError{Dir: d.root, Got: f.Version, Know: formatVersion}
	}
	return f, nil
}

// ReadFormat returns what dir's format.json says. It fails with ErrNotCrawl, a *VersionError or a *DamageError.
func ReadFormat(dir string) (Format, error) { return onDisk(dir).existing() }

// existing returns the format of the crawl that d holds.
func (d directory) existing() (Format, error) {
	if err := d.check(); err != nil {
		return Format{}, err
	}
	return d.readFormat()
}

// readTwin reads the file beside state.db that holds the same checkpoint.
func (d directory) readTwin() (point, error) {
	data, err := vfs.ReadFile(d.fs, d.twin())
	if err != nil {
		return point{}, cannotOpen(d.twin(), err)
	}
	p, err := decodePoint(data)
	if err != nil {
		return point{}, &DamageError{File: d.twin(), Offset: -1, Err: err}
	}
	return p, nil
}
