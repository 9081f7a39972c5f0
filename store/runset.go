package store

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"sync"

	"crawl/internal/vfs"
	"crawl/sortedrun"
)

// runSet owns the runs of a crawl: files runs/0000000042.run that are written once, by whoever does background work, and
// read by everyone.
//
// A run counts from the moment that it is installed, which is after its file and its name are on disk, and is kept by
// the next checkpoint: its manifest names it. The files of runs that others have taken the place of go only once a
// checkpoint that does not name them is durable. So what the last checkpoint names is always there; what it does not
// name is removed when the directory is opened. Every run can be remade from the logs: one that is found damaged is left
// out, and the spans of the others tell what is missing. A number names one file ever: it is not used again.
//
// It is safe for concurrent use.
type runSet struct {
	fs    vfs.FS
	dir   string
	sizes runSizes

	mu      sync.Mutex // guards all below, and the runs' counts of users
	runs    map[RunKind][]*run
	next    uint64
	retired []*run    // out of the set, their files still there
	lost    []RunInfo // named by the checkpoint that was opened, and damaged
	harm    []error   // what is wrong with each of them, a *DamageError
	news    []error   // damage that TakeDamage has not told of yet
	faults  int       // runs that were ever found damaged
}

const runExt = ".run"

// openRuns opens what the last checkpoint names and removes what it does not.
func openRuns(fsys vfs.FS, dir string, m Manifest) (*runSet, error) {
	if err := makeDir(fsys, dir); err != nil {
		return nil, err
	}
	s := newRunSet(fsys, dir, m)
	if err := s.removeUnnamed(m); err != nil {
		return nil, err
	}
	return s, s.openNamed(m)
}

// readRuns opens what a checkpoint names beside the crawl that owns it, and changes nothing.
func readRuns(fsys vfs.FS, dir string, m Manifest) (*runSet, error) {
	s := newRunSet(fsys, dir, m)
	return s, s.openNamed(m)
}

func newRunSet(fsys vfs.FS, dir string, m Manifest) *runSet {
	return &runSet{
		fs: fsys, dir: dir, sizes: defaultRunSizes(), runs: make(map[RunKind][]*run), next: max(m.NextNumber, 1),
	}
}

// openNamed opens runs, but for those that are damaged.
func (s *runSet) openNamed(m Manifest) error {
	for _, info := range m.Runs {
		r, err := s.open(info)
		if _, damaged := errors.AsType[*DamageError](err); damaged {
			s.lost, s.harm = append(s.lost, info), append(s.harm, err)
			s.fault(err)
			continue
		}
		if err != nil {
			return errors.Join(err, s.close())
		}
		s.runs[info.Kind] = append(s.runs[info.Kind], r)
	}
	return nil
}

// removeUnnamed removes the files of runs that no checkpoint names.
func (s *runSet) removeUnnamed(m Manifest) error {
	numbers, err := numbered(s.fs, s.dir, runExt)
	if err != nil {
		return err
	}
	for _, n := range numbers {
		s.next = max(s.next, n+1)
		if slices.ContainsFunc(m.Runs, func(i RunInfo) bool { return i.Number == n }) {
			continue
		}
		if err := s.fs.Remove(s.name(n)); err != nil {
			return &WriteError{File: s.name(n), Err: err}
		}
	}
	return nil
}

func (s *runSet) name(n uint64) string { return numberedName(s.dir, n, runExt) }

// open returns a run with one user: the set. Of one that is damaged the file stays until a checkpoint that does not name
// it is durable.
func (s *runSet) open(info RunInfo) (*run, error) {
	f, err := vfs.Open(s.fs, s.name(info.Number))
	if err != nil {
		return nil, cannotOpen(s.name(info.Number), err)
	}
	r := &run{RunInfo: info, file: f, refs: 1}
	if err := r.open(); err != nil {
		_ = f.Close() // nothing was written
		if _, damaged := errors.AsType[*DamageError](err); damaged {
			r.refs = 0
			s.retired = append(s.retired, r)
		}
		return nil, err
	}
	return r, nil
}

// newest returns the runs of a kind, the newest first, for the caller to release when he has read what he wants.
func (s *runSet) newest(kind RunKind) []*run {
	s.mu.Lock()
	defer s.mu.Unlock()
	runs := slices.Clone(s.runs[kind])
	slices.Reverse(runs)
	for _, r := range runs {
		r.refs++
	}
	return runs
}

// infos returns what is known of the runs of a kind, the oldest first.
func (s *runSet) infos(kind RunKind) []RunInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	infos := make([]RunInfo, len(s.runs[kind]))
	for i, r := range s.runs[kind] {
		infos[i] = r.RunInfo
	}
	return infos
}

// release ends the use of runs that newest returned.
func (s *runSet) release(runs []*run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range runs {
		s.drop(r)
	}
}

// drop ends one use of a run. The lock is held.
func (s *runSet) drop(r *run) {
	r.refs--
	if r.refs == 0 {
		_ = r.file.Close() // all of it was synced when it was written
	}
}

// build writes a run of info's kind and spans, with a number of its own, and opens it. fill adds the entries in order;
// its error is returned as it is, and the file removed. The run is on disk, and not yet part of the set: it goes to
// replace or discard. An error of the disk is a *WriteError.
func (s *runSet) build(info RunInfo, o sortedrun.Options, fill func(*sortedrun.Writer) error) (*run, error) {
	return s.write(info, func(out io.Writer) (entries uint64, err error) {
		w := sortedrun.NewWriter(out, o)
		if err := fill(w); err != nil {
			return 0, err
		}
		written, err := w.Finish()
		return written.Entries, err
	})
}

// write makes the file of a run; content writes what is in it.
func (s *runSet) write(info RunInfo, content func(io.Writer) (entries uint64, err error)) (*run, error) {
	s.mu.Lock()
	info.Number = s.next
	s.next++
	s.mu.Unlock()
	name := s.name(info.Number)
	f, err := s.fs.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		return nil, &WriteError{File: name, Err: err}
	}
	r := &run{RunInfo: info, file: f, refs: 1}
	if err := s.finish(r, content); err != nil {
		_ = f.Close()
		_ = s.fs.Remove(name) // a full disk wants its bytes back; what stays is removed when the crawl is opened
		return nil, err
	}
	return r, nil
}

// finish writes and syncs a run's file and its name, and opens it for reading.
func (s *runSet) finish(r *run, content func(io.Writer) (uint64, error)) (err error) {
	if r.Entries, err = content(runWriter{r.file}); err != nil {
		return err
	}
	if err := cmp.Or(r.file.Sync(), s.fs.SyncDir(s.dir)); err != nil {
		return &WriteError{File: r.file.Name(), Err: err}
	}
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	r.Bytes = info.Size()
	return r.open()
}

// discard removes a run that build returned and that nobody will install.
func (s *runSet) discard(r *run) error {
	s.mu.Lock()
	s.drop(r)
	s.mu.Unlock()
	if err := s.fs.Remove(r.file.Name()); err != nil {
		return &WriteError{File: r.file.Name(), Err: err}
	}
	return nil
}

// replace installs out (nil: nothing) in the place of in, which are runs of one kind and next to each other in age. With
// no in it stands where its span belongs, and a queue run is the newest.
func (s *runSet) replace(out *run, in []*run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(in) == 0 {
		s.insert(out)
		return
	}
	runs := s.runs[in[0].Kind]
	at := slices.IndexFunc(runs, func(r *run) bool { return slices.Contains(in, r) })
	for _, r := range in {
		s.retire(r)
	}
	switch {
	case out == nil:
	case at < 0: // all of them were found damaged meanwhile
		s.insert(out)
	default:
		s.runs[out.Kind] = slices.Insert(s.runs[out.Kind], at, out)
	}
}

// retire takes a run out of the set, if it is there still. The lock is held.
func (s *runSet) retire(r *run) (there bool) {
	runs := s.runs[r.Kind]
	if !slices.Contains(runs, r) {
		return false
	}
	s.runs[r.Kind] = slices.DeleteFunc(slices.Clone(runs), func(other *run) bool { return other == r })
	s.retired = append(s.retired, r)
	s.drop(r)
	return true
}

// leave returns an error of reading a run. One that is damaged is taken out of the set, so that the next checkpoint does
// not name it, and it is remade. A queue run stays: what it held must be found again first.
func (s *runSet) leave(r *run, err error) error {
	if _, damaged := errors.AsType[*DamageError](err); damaged && r.Kind != QueueRun {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.retire(r) {
			s.fault(err)
		}
	}
	return err
}

// insert adds a run that takes no other's place. The lock is held.
func (s *runSet) insert(r *run) {
	runs := s.runs[r.Kind]
	at := len(runs)
	for r.Kind != QueueRun && at > 0 && runs[at-1].place().After >= r.place().Upto {
		at--
	}
	s.runs[r.Kind] = slices.Insert(slices.Clone(runs), at, r)
}

// cut names the runs that are in the set, and returns those that no manifest from now on names.
func (s *runSet) cut() (m Manifest, outdated []*run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.NextNumber = s.next
	for _, kind := range slices.Sorted(maps.Keys(s.runs)) {
		for _, r := range s.runs[kind] {
			m.Runs = append(m.Runs, r.RunInfo)
		}
	}
	return m, slices.Clone(s.retired)
}

// clean removes the files of runs that no durable checkpoint names any more. A file that somebody still reads stays for
// the next time, since not every system lets it go.
func (s *runSet) clean(outdated []*run) error {
	for _, r := range outdated {
		if !s.forget(r) {
			continue
		}
		err := s.fs.Remove(s.name(r.Number))
		if err != nil && !errors.Is(err, os.ErrNotExist) { // what was damaged may have been missing
			return &WriteError{File: s.name(r.Number), Err: err}
		}
	}
	return nil
}

// forget tells whether the file of a retired run may go, and forgets it if so.
func (s *runSet) forget(r *run) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.refs > 0 {
		return false
	}
	s.retired = slices.DeleteFunc(s.retired, func(other *run) bool { return other == r })
	return true
}

// close closes the files. Those of retired runs that are still read are closed by their readers.
func (s *runSet) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, runs := range s.runs {
		for _, r := range runs {
			if r.refs--; r.refs == 0 {
				errs = append(errs, r.file.Close())
			}
		}
	}
	clear(s.runs)
	return errors.Join(errs...)
}
