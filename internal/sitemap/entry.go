package sitemap

import (
	"errors"
	"strings"
	"time"
)

// beginEntry opens an entry; one that was never closed ends there.
func (d *document) beginEntry(t token) error {
	if err := errors.Join(d.endField(), d.endEntry()); err != nil {
		return err
	}
	d.text.Reset()
	if t.kind == start {
		d.at = &element{name: t.name, prefix: t.prefix, base: d.based(d.outside.base, t)}
	}
	return nil
}

// endEntry gives on what the entry under way leads to.
func (d *document) endEntry() error {
	e := d.at
	d.at, d.foreign, d.field = &d.outside, 0, ""
	d.text.Reset()
	if e == &d.outside {
		return nil
	}
	kind := Page
	if e.name == "sitemap" {
		kind = Sitemap
	}
	if len(e.links) == 0 && isAbsolute(e.guid) {
		e.links = append(e.links, e.guid)
	}
	for _, ref := range e.links {
		if err := d.add(kind, e.base, ref, e.changed); err != nil {
			return err
		}
	}
	return nil
}

// isAbsolute reports whether a text is a page's address, as identifiers of RSS may be. Whether one is called a permalink
// says little: many feeds get that wrong.
func isAbsolute(guid string) bool {
	return strings.HasPrefix(guid, "http://") || strings.HasPrefix(guid, "https://")
}

// endField enters the field under way. Outside all fields an address counts too: some indexes put it into the entry itself.
func (d *document) endField() error {
	field, value := d.field, strings.Trim(d.text.String(), space)
	d.field = ""
	d.text.Reset()
	switch {
	case field == "":
		if isAbsolute(value) {
			d.at.guid = value
		}
	case field == d.link && d.at == &d.outside: // the page that a whole feed belongs to
		return d.add(Page, d.at.base, value, time.Time{})
	case field == d.link:
		d.at.links = append(d.at.links, value)
	case field == "guid":
		d.at.guid = value
	case d.at.changed.IsZero():
		d.at.changed = parseDate(value)
	}
	return nil
}

// hyperlink takes a link of Atom (RFC 4287, section 4.2.7), which RSS borrows. Pages are alternates; the parts of a feed
// name each other (RFC 5005).
func (d *document) hyperlink(t token) error {
	ref, _ := t.attr("href")
	rel, ok := t.attr("rel")
	switch rel = strings.ToLower(strings.Trim(rel, space)); {
	case d.at == &d.outside && (rel == "next" || rel == "prev-archive"):
		return d.add(Feed, d.at.base, ref, time.Time{})
	case ok && rel != "alternate" && rel != "":
		return nil
	case d.at == &d.outside:
		return d.add(Page, d.at.base, ref, time.Time{})
	}
	d.at.links = append(d.at.links, ref)
	return nil
}
