package crawler

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"crawl/internal/deny"
	"crawl/seen"
)

// DenylistError: a denylist cannot be used.
type DenylistError struct {
	File string
	Err  error
}

func (e *DenylistError) Error() string { return fmt.Sprintf("deny: %s: %v", e.File, e.Err) }
func (e *DenylistError) Unwrap() error { return e.Err }

// What is wrong with the file of a list.
var (
	errDenyMissing = errors.New("there is no such file; make it, or take it out of deny")
	errDenyFolder  = errors.New("it is no regular file")
	errDenyKind    = errors.New("it is neither text nor a filter with its hashes: make one with `crawl filter build --exact`")
	errDenyChanged = errors.New("it changed while it was read; put a new version in its place by renaming")
	errDenyEmpty   = errors.New("it has no entry")
)

// denyRate is how often a check costs a read of 4 KiB although the list does not have what is looked up: one in a
// thousand, for 16 bits of memory an entry.
const denyRate = 0.001

// denyMaxBytes is no limit: what a list takes follows its length, which its owner knows.
const denyMaxBytes = 1 << 40

// denyID names what belongs to a list.
func denyID(file string) string {
	sum := sha256.Sum256([]byte(file))
	return hex.EncodeToString(sum[:8])
}

// load puts all lists in force. kept is what the crawl's last checkpoint says of them. The error joins a *DenylistError for
// each that cannot be used.
func (d *denylists) load(ctx context.Context, kept []DenylistView) error {
	if d == nil {
		return nil
	}
	var versions []*denyVersion
	var errs []error
	for _, l := range d.lists {
		v, err := d.read(ctx, l, 0)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for i := range kept {
			if v.is(&kept[i]) {
				v.since = kept[i].Since
			}
		}
		versions = append(versions, v)
	}
	if len(errs) > 0 {
		return errors.Join(append(errs, closeVersions(versions))...)
	}
	d.install(versions)
	d.sweep()
	return nil
}

func closeVersions(versions []*denyVersion) error {
	var errs []error
	for _, v := range versions {
		errs = append(errs, v.table.Close())
	}
	return errors.Join(errs...)
}

// close closes the lists in force. Nobody asks any longer.
func (d *denylists) close() error {
	if d == nil || d.now.Load() == nil {
		return nil
	}
	return closeVersions(d.now.Load().versions)
}

// read makes a version of the file as it is. After one that had entries, one without is taken for a mistake.
func (d *denylists) read(ctx context.Context, l *denylist, before uint64) (*denyVersion, error) {
	v, err := d.version(ctx, l, before)
	if err != nil {
		return nil, &DenylistError{l.file, err}
	}
	v.list, v.since = l, time.Now().UTC().Truncate(time.Millisecond)
	v.asked.Set, v.entries = v.table, v.table.Len()
	return v, nil
}

func (d *denylists) version(ctx context.Context, l *denylist, before uint64) (*denyVersion, error) {
	f, err := os.Open(l.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errDenyMissing
	case err != nil:
		return nil, bareOf(err)
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, bareOf(err)
	case !info.Mode().IsRegular():
		return nil, errDenyFolder
	}
	mark := markOf(info)
	table, err := seen.OpenTable(l.file)
	switch {
	case err == nil && table.Len() == 0 && before > 0:
		return nil, errors.Join(errDenyEmpty, table.Close())
	case err == nil:
		return &denyVersion{asked: deny.List{Shape: deny.AnyShape()}, table: table, mark: mark}, nil
	case !errors.Is(err, seen.ErrFormat):
		return nil, err
	}
	if v := d.kept(l, mark); v != nil {
		return v, nil
	}
	if err := isText(f); err != nil {
		return nil, err
	}
	v, err := d.make(ctx, l, f, before)
	if err != nil {
		return nil, err
	}
	v.mark = mark
	if after, err := f.Stat(); err != nil || !markOf(after).equal(mark) {
		return nil, errors.Join(cmp.Or(err, errDenyChanged), v.table.Close())
	}
	return v, d.keep(l, v)
}

// bareOf takes the path off an error that names it once more.
func bareOf(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// isText refuses a file that begins with what no text begins with.
func isText(f *os.File) error {
	head := make([]byte, utf8.UTFMax)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return bareOf(err)
	}
	if n == 0 {
		return nil
	}
	first, _ := utf8.DecodeRune(head[:n])
	if first == utf8.RuneError || first < ' ' && first != '\n' && first != '\r' && first != '\t' {
		return errDenyKind
	}
	return nil
}

// make makes a set of a list that is text. Its lines are hashed, sorted on the disk and put behind a filter, in 64 MiB of
// memory and what the filter takes.
func (d *denylists) make(ctx context.Context, l *denylist, text io.Reader, before uint64) (_ *denyVersion, err error) {
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return nil, err
	}
	made, err := d.unused(l)
	if err != nil {
		return nil, err
	}
	builder, err := seen.NewTableBuilder(made, seen.Config{FalsePositiveRate: denyRate, Seed: d.seed, MaxBytes: denyMaxBytes})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, builder.Close()) }()
	digest := sha256.New()
	sum, err := deny.Read(io.TeeReader(text, digest), d.key, func(line uint64, e deny.Entry) error {
		if line&0xfff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return builder.Add(builder.HashString(e.Text))
	})
	if err == nil && sum.Shape.Sum() == 0 && before > 0 {
		err = errDenyEmpty
	}
	if err != nil {
		return nil, err
	}
	if err := builder.Finish(); err != nil {
		return nil, err
	}
	table, err := seen.OpenTable(made)
	if err != nil {
		return nil, err
	}
	return &denyVersion{
		asked: deny.List{Shape: sum.Shape}, table: table, made: made, Summary: sum, digest: "sha256:" + hex.EncodeToString(digest.Sum(nil)),
	}, nil
}

// unused returns a name that no file of the list has.
func (d *denylists) unused(l *denylist) (string, error) {
	for n := 1; ; n++ {
		path := filepath.Join(d.dir, fmt.Sprintf("%s.%d.filter", l.id, n))
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return path, nil
		} else if err != nil {
			return "", err
		}
	}
}

// madeList is what is known of a set that was made from text. It stands beside the set, and appears after it.
type madeList struct {
	Version int          `json:"version"`
	Source  string       `json:"source"`
	Mark    fileMark     `json:"mark"`
	Digest  string       `json:"digest"`
	Names   string       `json:"names"` // rules that made the keys of pages
	Set     string       `json:"set"`   // its file
	Summary deny.Summary `json:"summary"`
}

// madeVersion is raised when lines come to mean something else.
const madeVersion = 1

func (d *denylists) notePath(l *denylist) string { return filepath.Join(d.dir, l.id+".json") }

// keep notes what a set was made of. Without the note it is made again.
func (d *denylists) keep(l *denylist, v *denyVersion) error {
	text, err := json.Marshal(madeList{madeVersion, l.file, v.mark, v.digest, d.names, filepath.Base(v.made), v.Summary})
	if err != nil {
		return err
	}
	temp := d.notePath(l) + ".new"
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, d.notePath(l))
}

// kept opens the set that was made of the file as it is; nil where there is none that can be used.
func (d *denylists) kept(l *denylist, mark fileMark) *denyVersion {
	v := d.lastMade(l)
	if v == nil || v.mark.equal(mark) {
		return v
	}
	v.table.Close() // it was only read
	return nil
}

// lastMade opens the set that was made last of the list's file, whatever that holds now; nil where there is none.
func (d *denylists) lastMade(l *denylist) *denyVersion {
	text, err := os.ReadFile(d.notePath(l))
	if err != nil {
		return nil
	}
	var m madeList
	if json.Unmarshal(text, &m) != nil || m.Version != madeVersion || m.Source != l.file || m.Names != d.names || filepath.Base(m.Set) != m.Set {
		return nil
	}
	made := filepath.Join(d.dir, m.Set)
	table, err := seen.OpenTable(made)
	if err != nil {
		return nil
	}
	if table.Config().Seed != d.seed {
		table.Close() // it was only read
		return nil
	}
	return &denyVersion{
		asked: deny.List{Shape: m.Summary.Shape}, table: table, made: made, Summary: m.Summary, mark: m.Mark, digest: m.Digest,
	}
}

// sweep removes what no list in force is made of: sets that were replaced, and what a process that was killed has left.
// What cannot be removed now is at the next start.
func (d *denylists) sweep() {
	files, err := os.ReadDir(d.dir)
	if err != nil {
		return
	}
	inUse := make(map[string]bool)
	for _, v := range d.now.Load().versions {
		if v.made != "" {
			inUse[filepath.Base(v.made)], inUse[v.list.id+".json"] = true, true
		}
	}
	for _, f := range files {
		if id, _, _ := strings.Cut(f.Name(), "."); !inUse[f.Name()] && len(id) == len(denyID("")) {
			os.RemoveAll(filepath.Join(d.dir, f.Name()))
		}
	}
}
