package seen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/gofrs/flock"
)

// The names of a folder's files. Others are nobody's business.
const (
	manifestName = "manifest"
	lockName     = "lock"
)

// ErrLocked: another set, of this process or of another, has the folder open.
var ErrLocked = errors.New("seen: in use")

// openHashRuns opens the set in dir, which it makes if there is none, for the hash that c asks for. What is already there
// decides the seed. before is the disk's.
func openHashRuns(dir string, c Config, before func(step, file string) error) (_ *hashRuns, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("seen: %w", err)
	}
	if err := refuseForeign(dir); err != nil {
		return nil, err
	}
	r := &hashRuns{disk: disk{dir: dir, before: before}, lock: flock.New(disk{dir: dir}.path(lockName)), limit: freshKeys}
	held, err := r.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("seen: lock %s: %w", dir, err)
	}
	if !held {
		return nil, fmt.Errorf("%w: %s", ErrLocked, dir)
	}
	if err := r.load(c); err != nil {
		return nil, errors.Join(err, closeParts(r.runs), r.lock.Close())
	}
	r.fresh.reset(0)
	return r, nil
}

func (r *hashRuns) load(c Config) error {
	head, err := os.ReadFile(r.disk.path(manifestName))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return r.begin(c)
	case err != nil:
		return fmt.Errorf("seen: %w", err)
	}
	if err := r.readManifest(head); err != nil {
		return fmt.Errorf("%w: %s", err, r.disk.path(manifestName))
	}
	if c.Seed != 0 && c.Seed != r.config.Seed {
		return fmt.Errorf("%w: %s has another seed", ErrMismatch, r.disk.dir)
	}
	c.Seed = r.config.Seed
	r.config = c.withDefaults()
	return r.sweep()
}

// begin makes an empty set.
func (r *hashRuns) begin(c Config) error {
	files, err := r.runFiles()
	if err != nil {
		return err
	}
	if len(files) > 0 {
		return fmt.Errorf("%w: %s: the file is missing, and %s is there", ErrDamaged, r.disk.path(manifestName), files[0])
	}
	r.config = c.inForce()
	r.nextFile = 1
	return r.writeManifest(nil)
}

// refuseForeign keeps a set out of a folder that is somebody else's: it would leave its files among theirs.
func refuseForeign(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	foreign := ""
	for _, e := range entries {
		switch name := e.Name(); {
		case name == manifestName:
			return nil
		case name != lockName && name != manifestName+stepTempMark && !isRunName(name):
			foreign = name
		}
	}
	if foreign != "" {
		return fmt.Errorf("%w: %s holds %s, and no set: name a folder of its own", ErrFormat, dir, foreign)
	}
	return nil
}

// writeManifest makes a manifest with these runs the one that counts.
func (r *hashRuns) writeManifest(runs []*part) error {
	le := binary.LittleEndian
	b := appendConfig(nil, r.config)
	b = le.AppendUint64(b, r.nextFile)
	b = le.AppendUint32(b, uint32(len(runs)))
	for _, p := range runs {
		b = le.AppendUint64(b, p.number)
		b = le.AppendUint64(b, p.keys)
	}
	head, err := sealHead(KindExact, b)
	if err != nil {
		return err
	}
	err = r.disk.replace(manifestName, func(w io.Writer) error {
		_, err := w.Write(head)
		return err
	})
	if err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	return nil
}

// readManifest opens the runs that a manifest names. On an error those that are open are in r.runs.
func (r *hashRuns) readManifest(head []byte) error {
	kind, f, err := openHead(head)
	if err != nil {
		return err
	}
	if kind != KindExact {
		return fmt.Errorf("%w: want kind %q, got %q", ErrFormat, KindExact, kind)
	}
	r.config = f.config()
	r.nextFile = f.uint64()
	named := f.uint32()
	if rest := uint64(len(f.b)); rest != 2*8*uint64(named) {
		return fmt.Errorf("%w: head: %d runs in %d bytes", ErrDamaged, named, rest)
	}
	if err := checkConfig(r.config); err != nil {
		return err
	}
	for range named {
		number, keys := f.uint64(), f.uint64()
		if number >= r.nextFile || slices.ContainsFunc(r.runs, func(p *part) bool { return p.number == number }) {
			return fmt.Errorf("%w: head: impossible run %d", ErrDamaged, number)
		}
		p, err := r.disk.openRun(number)
		if err != nil {
			return err
		}
		r.runs = append(r.runs, p)
		if p.keys != keys {
			return p.damaged(p.bytes(), errKeys(p.keys, keys))
		}
	}
	slices.SortStableFunc(r.runs, func(a, b *part) int { return compareKeys(b, a) })
	return f.end()
}

// sweep removes what the manifest does not name.
func (r *hashRuns) sweep() error {
	files, err := r.runFiles()
	if err != nil {
		return err
	}
	for _, name := range files {
		if slices.ContainsFunc(r.runs, func(p *part) bool { return runName(p.number) == name }) {
			continue
		}
		if err := r.disk.remove(name); err != nil {
			return fmt.Errorf("seen: %w", err)
		}
	}
	return nil
}

// runFiles lists the files with names of runs.
func (r *hashRuns) runFiles() ([]string, error) {
	entries, err := os.ReadDir(r.disk.dir)
	if err != nil {
		return nil, fmt.Errorf("seen: %w", err)
	}
	var names []string
	for _, e := range entries {
		if isRunName(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func isRunName(name string) bool {
	number, isRun := strings.CutSuffix(name, runSuffix)
	return isRun && len(number) >= 8 && strings.Trim(number, "0123456789") == ""
}
