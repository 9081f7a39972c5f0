package crawler

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"crawl/canon"
	"crawl/internal/deny"
	"crawl/seen"
)

// withDeny puts what the denylists say before the last ruling. Where there are none they say nothing.
func withDeny(all []Ruling, lists *denylists, u canon.URL) []Ruling {
	if lists == nil {
		return all
	}
	return slices.Insert(all, len(all)-1, lists.ruling(u))
}

// ruling says what the lists say of a URL: which one refuses it, by which entry, and where that stands.
func (d *denylists) ruling(u canon.URL) Ruling {
	if d.now.Load() == nil {
		return Ruling{ByDeny, Unknown, "the denylists are read when the crawl runs"}
	}
	why, err := d.url(u)
	switch {
	case err != nil:
		return Ruling{ByDeny, Unknown, err.Error()}
	case why == nil:
		return Ruling{ByDeny, Allows, "on no denylist; addresses that its host leads to are looked up when it is asked for"}
	}
	return Ruling{ByDeny, Refuses, why.String() + d.place(why)}
}

// place says where in its list's file an entry stands. It reads the file up to there.
func (d *denylists) place(why *denial) string {
	v := why.version
	if v.made == "" {
		return ""
	}
	f, err := os.Open(v.list.file)
	if err != nil {
		return ""
	}
	defer f.Close() // it was only read
	if info, err := f.Stat(); err != nil || !markOf(info).equal(v.mark) {
		return ", in the version before the file changed"
	}
	line, err := deny.Find(f, d.key, why.entry)
	if err != nil || line == 0 {
		return ""
	}
	return fmt.Sprintf(", line %d", line)
}

// storedDenylists opens the lists that a crawl's own process has in force, or had last. Without one of them nothing can be
// said: none is in force then.
func storedDenylists(dir string, cfg Config, names *canon.Rules) *denylists {
	d := newDenylists(dir, cfg, names)
	if d == nil {
		return nil
	}
	var versions []*denyVersion
	for _, l := range d.lists {
		v := d.stored(l)
		if v == nil {
			closeVersions(versions) // they were only read
			return d
		}
		v.list, v.asked.Set, v.entries = l, v.table, v.table.Len()
		versions = append(versions, v)
	}
	d.install(versions)
	return d
}

func (d *denylists) stored(l *denylist) *denyVersion {
	table, err := seen.OpenTable(l.file)
	switch {
	case err == nil:
		return &denyVersion{asked: deny.List{Shape: deny.AnyShape()}, table: table}
	case errors.Is(err, seen.ErrDamaged):
		return nil
	}
	return d.lastMade(l)
}
