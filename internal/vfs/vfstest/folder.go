package vfstest

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// folder knows the names of one folder that the Crash has to do with. A name that is on the real disk and not in live was
// never changed through the Crash.
type folder struct {
	path    string
	live    map[string]*node
	durable map[string]*node // as of the last sync
	pending []naming         // what came after it
}

// naming is a change of names: a node is made (to), removed (from) or renamed (both).
type naming struct {
	from, to string
	node     *node
}

func (m naming) apply(names map[string]*node) {
	delete(names, m.from)
	if m.to != "" {
		names[m.to] = m.node
	}
}

// touches tells whether two changes have a name in common: then the later one is never kept without the earlier.
func (m naming) touches(o naming) bool {
	shared := func(name string) bool { return name != "" && (name == o.from || name == o.to) }
	return shared(m.from) || shared(m.to)
}

func newFolder(path string) *folder {
	return &folder{path: path, live: make(map[string]*node), durable: make(map[string]*node)}
}

func (f *folder) at(name string) string { return filepath.Join(f.path, name) }

// sub returns a folder in this one.
func (f *folder) sub(name string) (*folder, error) {
	if err := f.keep(name); err != nil {
		return nil, err
	}
	n := f.live[name]
	if n == nil {
		return nil, &fs.PathError{Op: "open", Path: f.at(name), Err: fs.ErrNotExist}
	}
	if n.folder == nil {
		return nil, &fs.PathError{Op: "open", Path: f.at(name), Err: errors.New("not a directory")}
	}
	return n.folder, nil
}

// keep takes what bears a name into the model, if anything does: it is about to be changed, or replaced, or looked into.
func (f *folder) keep(name string) error {
	if n := f.live[name]; n != nil {
		return n.freeze()
	}
	info, err := os.Stat(f.at(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	n := &node{path: f.at(name), folder: newFolder(f.at(name))}
	if !info.IsDir() {
		if n, err = loadNode(f.at(name)); err != nil {
			return err
		}
	}
	f.live[name], f.durable[name] = n, n
	return nil
}

// forOpen returns the node that is about to be opened, nil when there is none, or none that is known and it is only read.
func (f *folder) forOpen(name string, flag int) (*node, error) {
	if changes(flag) {
		if err := f.keep(name); err != nil {
			return nil, err
		}
	}
	n := f.live[name]
	if n != nil && n.outside {
		return nil, nil
	}
	return n, nil
}

// forRename returns the node that is about to be renamed. One that was made past the Crash is written on past it, and its
// first name is no more durable than the next.
func (f *folder) forRename(name string) (*node, error) {
	if n := f.live[name]; n != nil {
		return n, nil
	}
	info, err := os.Stat(f.at(name))
	if err != nil {
		return nil, err
	}
	n := &node{path: f.at(name), outside: true}
	if info.IsDir() {
		n = &node{path: f.at(name), folder: newFolder(f.at(name))}
	}
	f.make(name, n)
	return n, nil
}

func (f *folder) make(name string, n *node)            { f.change(naming{to: name, node: n}) }
func (f *folder) remove(name string)                   { f.change(naming{from: name}) }
func (f *folder) rename(name, newName string, n *node) { f.change(naming{name, newName, n}) }

func (f *folder) change(m naming) {
	m.apply(f.live)
	f.pending = append(f.pending, m)
	if m.node != nil {
		m.node.path = f.at(m.to)
	}
}

func (f *folder) sync() { f.durable, f.pending = maps.Clone(f.live), nil }

// names is what a power cut leaves of the folder's names: of each chain of changes some first ones.
func (f *folder) names(keep func() float64) map[string]*node {
	names := maps.Clone(f.durable)
	for _, chain := range chains(f.pending) {
		for _, m := range chain[:part(keep(), len(chain))] {
			m.apply(names)
		}
	}
	return names
}

// chains divides changes into those that have nothing to do with one another.
func chains(changes []naming) (all [][]naming) {
	for _, m := range changes {
		own := func(chain []naming) bool { return slices.ContainsFunc(chain, m.touches) }
		first := slices.IndexFunc(all, own)
		if first < 0 {
			all = append(all, []naming{m})
			continue
		}
		for i := len(all) - 1; i > first; i-- {
			if own(all[i]) { // a rename joins two: they have no name in common, so that their order does not matter
				all[first] = append(all[first], all[i]...)
				all = slices.Delete(all, i, i+1)
			}
		}
		all[first] = append(all[first], m)
	}
	return all
}

// clone writes what a power cut leaves of the folder.
func (f *folder) clone(to string, keep func() float64, torn bool) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	names := f.names(keep)
	if err := f.cloneUnknown(to, names); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		n, target := names[name], filepath.Join(to, name)
		if n.folder != nil {
			if err := n.folder.clone(target, keep, torn); err != nil {
				return err
			}
			continue
		}
		content, err := n.content(keep, torn)
		if err == nil {
			err = os.WriteFile(target, content, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cloneUnknown copies what was never changed through the Crash, and takes its names out of names.
func (f *folder) cloneUnknown(to string, names map[string]*node) error {
	entries, err := os.ReadDir(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the folder itself may be removed by now
		return err
	}
	for _, e := range entries {
		if _, known := f.live[e.Name()]; known {
			continue
		}
		delete(names, e.Name())
		if err := copyAny(f.at(e.Name()), filepath.Join(to, e.Name()), e.IsDir()); err != nil {
			return err
		}
	}
	return nil
}

func copyAny(from, to string, isFolder bool) error {
	if isFolder {
		return os.CopyFS(to, os.DirFS(from))
	}
	content, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its owner removed it just now
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}
