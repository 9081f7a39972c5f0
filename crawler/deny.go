package crawler

import (
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"crawl/canon"
	"crawl/internal/deny"
	"crawl/seen"
	"crawl/store"
)

// denylists are what Config.Deny names. A URL is looked up where it is met, once more when its turn has come, and so are
// the addresses that its host leads to; nobody is exempt.
//
// Who asks takes no lock: the lists in force are one set behind a pointer, and a list whose file has changed comes with
// another set. A set that is replaced goes with the last one who looks into it. Its files are closed then by the runtime.
type denylists struct {
	dir   string // of lists made from text; in the crawl's directory
	key   deny.Key
	names string // version of the rules that make keys
	seed  uint64 // of the hash of lists made from text
	log   *slog.Logger
	lists []*denylist // in the order of Config.Deny
	now   atomic.Pointer[denySet]
}

// denylist is one of the lists, whichever version of it is in force.
type denylist struct {
	file string
	rule string // by which refusals are counted: deny:NAME
	id   string // begins the names of its files in denylists.dir

	// Of who looks whether the file has changed.
	looked fileMark // as it was at the last look
	broken fileMark // a state that cannot be used, which was said
	lost   bool     // it is gone, which was said

	why atomic.Pointer[string] // why its file as it is now is not in force; nil: it is
}

// denySet is the lists in force.
type denySet struct {
	versions  []*denyVersion // in the order of the lists
	pages     bool           // some list has entries of pages
	addresses bool           // and of addresses, or networks
	passed    passedSites
}

// denyVersion is a list as it was read. It is not written to.
type denyVersion struct {
	list  *denylist
	asked deny.List
	table *seen.Table
	made  string // file that was made of a text; empty: the list's own file is asked
	deny.Summary
	entries uint64
	mark    fileMark
	digest  string // of the text; empty where there is none
	since   time.Time
}

// denial is why a URL is refused.
type denial struct {
	version *denyVersion
	entry   deny.Entry
}

func (d *denial) rule() string { return d.version.list.rule }

// Error makes a denial what is wrong with a seed.
func (d *denial) Error() string { return "it is denied by " + d.String() }

func (d *denial) String() string {
	return d.rule() + ": " + d.entry.Text + " (" + d.entry.Kind.String() + ")"
}

// denyFolder is the folder of a crawl's directory that holds lists made from text.
const denyFolder = "deny"

// newDenylists returns nil where there are none. None is in force before load.
func newDenylists(crawlDir string, cfg Config, names *canon.Rules) *denylists {
	if len(cfg.Deny) == 0 {
		return nil
	}
	d := &denylists{
		dir: filepath.Join(crawlDir, denyFolder), key: names.Key, names: names.Version(), seed: cfg.Seen.Seed, log: cfg.Log,
	}
	for i, rule := range denyRules(cfg.Deny) {
		d.lists = append(d.lists, &denylist{file: cfg.Deny[i], rule: rule, id: denyID(cfg.Deny[i])})
	}
	return d
}

// denyRules names lists by their files: by the last part of a path where that is enough.
func denyRules(files []string) []string {
	times := make(map[string]int)
	for _, file := range files {
		times[filepath.Base(file)]++
	}
	rules := make([]string, len(files))
	for i, file := range files {
		name := filepath.Base(file)
		if times[name] > 1 {
			name = file
		}
		rules[i] = "deny:" + name
	}
	return rules
}

// fileMark tells two states of a file apart.
type fileMark struct {
	Modified time.Time `json:"modified"`
	Size     int64     `json:"size"`
}

func markOf(info os.FileInfo) fileMark { return fileMark{info.ModTime().UTC(), info.Size()} }

func (m fileMark) equal(other fileMark) bool {
	return m.Size == other.Size && m.Modified.Equal(other.Modified)
}

// install puts versions in force.
func (d *denylists) install(versions []*denyVersion) {
	set := &denySet{versions: versions, passed: newPassedSites()}
	for _, v := range versions {
		set.pages = set.pages || v.asked.Shape.Pages
		set.addresses = set.addresses || v.asked.Shape.AnyAddress()
	}
	d.now.Store(set)
}

// url returns why a URL is refused; nil: it is not.
func (d *denylists) url(u canon.URL) (*denial, error) {
	if d == nil {
		return nil, nil
	}
	set := d.now.Load()
	if found, err := set.site(u); found != nil || err != nil {
		return found, err
	}
	if !set.pages {
		return nil, nil
	}
	key := d.key(u)
	return set.first(func(v *denyVersion) (deny.Entry, bool, error) {
		if v.made != "" { // its entries are keys
			return v.asked.Page(key)
		}
		return v.asked.Page(key, u.String())
	})
}

// site returns why all of a URL's site is refused; nil: it is not.
func (d *denylists) site(u canon.URL) (*denial, error) {
	if d == nil {
		return nil, nil
	}
	return d.now.Load().site(u)
}

// site looks for an entry of u's host, of a domain that it is in, or of the address that it is. What was passed once is
// remembered with the set.
func (s *denySet) site(u canon.URL) (*denial, error) {
	hash := s.passed.hash(u)
	if s.passed.has(hash) {
		return nil, nil
	}
	site := deny.SiteOf(u)
	found, err := s.first(func(v *denyVersion) (deny.Entry, bool, error) { return v.asked.Site(site) })
	if found == nil && err == nil {
		s.passed.add(hash)
	}
	return found, err
}

// first returns what the first of the lists finds.
func (s *denySet) first(find func(*denyVersion) (deny.Entry, bool, error)) (*denial, error) {
	for _, v := range s.versions {
		e, found, err := find(v)
		switch {
		case err != nil:
			return nil, v.unread(err)
		case found:
			return &denial{v, e}, nil
		}
	}
	return nil, nil
}

// addrs returns the addresses that no list refuses, and why one of the others is refused.
func (d *denylists) addrs(all []netip.AddrPort) (allowed []netip.AddrPort, why *denial, err error) {
	if d == nil {
		return all, nil, nil
	}
	set := d.now.Load()
	if !set.addresses {
		return all, nil, nil
	}
	refused := 0
	for i, a := range all {
		found, err := set.first(func(v *denyVersion) (deny.Entry, bool, error) { return v.asked.Addr(a.Addr()) })
		if err != nil {
			return nil, nil, err
		}
		if found != nil {
			if why = found; refused == 0 {
				allowed = slices.Clone(all[:i])
			}
			refused++
		} else if refused > 0 {
			allowed = append(allowed, a)
		}
	}
	if refused == 0 {
		return all, nil, nil
	}
	return allowed, why, nil
}

// unreadDenylist: a list could not be read, so that nobody knows what it refuses. The crawl's state is sound.
type unreadDenylist struct{ damage *store.DamageError }

func (e *unreadDenylist) Error() string { return e.damage.Error() }
func (e *unreadDenylist) Unwrap() error { return e.damage }

// unread says that the list failed. One that was made from text is made again at the next start.
func (v *denyVersion) unread(err error) error {
	file := v.list.file
	if v.made != "" {
		file = v.made
		if errors.Is(err, seen.ErrDamaged) {
			err = errors.Join(err, os.Remove(file))
		}
	}
	return &unreadDenylist{&store.DamageError{File: file, Offset: -1, Err: fmt.Errorf("denylist %s: %w", v.list.file, err)}}
}

// passedSites remembers sites that no list refuses, by a hash of their origins: a set for the links of a crawl, most of
// which lead to few sites. A site takes the place of another one, and none is ever wrongly there but for two with one hash
// of 64 bits, under a seed that nobody knows.
type passedSites struct {
	seed  maphash.Seed
	slots []atomic.Uint64
}

// passedSlots times 8 bytes are 512 KiB.
const passedSlots = 1 << 16

func newPassedSites() passedSites {
	return passedSites{seed: maphash.MakeSeed(), slots: make([]atomic.Uint64, passedSlots)}
}

func (p *passedSites) hash(u canon.URL) uint64 {
	return max(maphash.String(p.seed, u.Origin()), 1) // 0 is an empty slot
}

func (p *passedSites) has(hash uint64) bool { return p.slots[hash%passedSlots].Load() == hash }
func (p *passedSites) add(hash uint64)      { p.slots[hash%passedSlots].Store(hash) }
