package crawler

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"
)

// watchDenylists looks at the lists' files once in a CheckpointInterval, until done, and puts in force what is new.
func (c *Crawler) watchDenylists(ctx context.Context, done <-chan struct{}) error {
	if c.deny == nil {
		return nil
	}
	look := time.NewTicker(c.cfg.CheckpointInterval)
	defer look.Stop()
	for {
		select {
		case <-done:
			return nil
		case <-look.C:
		}
		if c.deny.renew(ctx) {
			c.committer.rulesChanged()
		}
	}
}

// rulesChanged notes that links which were refused may be admitted now: pages are read anew where they are asked for again.
func (k *committer) rulesChanged() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.books.RulesAt = time.Now().UTC()
}

// renew puts new versions in force, and reports whether there were any. A version that cannot be used leaves the one before
// in force, which is said once. One goroutine calls it.
func (d *denylists) renew(ctx context.Context) (renewed bool) {
	before := d.now.Load()
	versions := slices.Clone(before.versions)
	for i, l := range d.lists {
		v := d.renewed(ctx, l, versions[i])
		if v == nil {
			continue
		}
		d.log.Info("a denylist has changed: its new version is in force", "list", l.file, "entries", v.entries, "entries_before", versions[i].entries)
		d.sayBad(v)
		versions[i], renewed = v, true
	}
	if renewed {
		d.install(versions)
		d.sweep()
	}
	return renewed
}

// renewed returns the version of a file that has changed, once two looks have found it in one state: it may be on its way.
func (d *denylists) renewed(ctx context.Context, l *denylist, now *denyVersion) *denyVersion {
	info, err := os.Stat(l.file)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errDenyMissing
		}
		l.stays(d, bareOf(err), !l.lost)
		l.lost = true
		return nil
	}
	l.lost = false
	mark := markOf(info)
	settled := mark.equal(l.looked)
	l.looked = mark
	switch {
	case mark.equal(now.mark):
		l.why.Store(nil)
		return nil
	case mark.equal(l.broken), !settled:
		return nil
	}
	v, err := d.read(ctx, l, now.entries)
	switch {
	case ctx.Err() != nil:
		if err == nil {
			v.table.Close() // it was only read; the next start reads it again
		}
		return nil
	case errors.Is(err, errDenyChanged):
		return nil
	case err != nil:
		l.broken = mark
		l.stays(d, err, true)
		return nil
	}
	l.why.Store(nil)
	return v
}

// stays says why the version in force stays there.
func (l *denylist) stays(d *denylists, why error, say bool) {
	text := why.Error()
	l.why.Store(&text)
	if say {
		d.log.Warn("a denylist's file cannot be used: the version before stays in force", "list", l.file, "err", why)
	}
}

// sayBad names lines that are none of a list.
func (d *denylists) sayBad(v *denyVersion) {
	if v.Bad == 0 {
		return
	}
	args := []any{"list", v.list.file, "lines", v.Bad}
	for _, bad := range v.Named {
		args = append(args, "err", bad)
	}
	d.log.Warn("lines of a denylist are passed over", args...)
}

// say names the lists in force.
func (d *denylists) say() {
	if d == nil {
		return
	}
	for _, v := range d.now.Load().versions {
		d.log.Info("denylist", "list", v.list.file, "entries", v.entries)
		d.sayBad(v)
	}
}
