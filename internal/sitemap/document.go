package sitemap

import (
	"bufio"
	"errors"
	"slices"
	"strings"
	"time"

	"crawl/canon"
)

// format is a kind of document: the local names of its elements that say something.
type format struct {
	roots   []string
	around  []string // between the root and the entries
	entries []string
	fields  []string // children of an entry whose text counts
	link    string   // the field that names the page
}

var formats = []format{
	{roots: []string{"urlset", "sitemapindex"}, entries: []string{"url", "sitemap"}, fields: []string{"loc", "lastmod"}, link: "loc"},
	{roots: []string{"rss", "rdf"}, around: []string{"channel"}, entries: []string{"item"}, fields: []string{"link", "guid", "pubdate", "date"}, link: "link"},
	{roots: []string{"feed"}, entries: []string{"entry"}, fields: []string{"link", "updated", "modified"}, link: "link"},
}

// document is an XML file under way. Elements need not be closed: an entry ends where the next one begins.
type document struct {
	*list
	format
	tags scanner

	at      *element        // what is under way: an entry, or outside
	outside element         // what stands around the entries
	foreign int             // elements open in it that say nothing
	field   string          // of it, whose text is under way; empty: none
	text    strings.Builder // of field
}

// element gathers what an entry says.
type element struct {
	name, prefix string // of its tag
	base         canon.URL
	links        []string
	guid         string // counts where there is no link
	changed      time.Time
}

// readXML reads any of the formats. Which one it is the first element tells by its name, whatever its namespace.
func (l *list) readXML(in *bufio.Reader) error {
	d := &document{list: l, tags: scanner{r: in}}
	d.at = &d.outside
	if err := d.root(); err != nil {
		return err
	}
	for {
		t, err := d.tags.next()
		if err != nil { // what the end cuts off within a field is left out
			return errors.Join(d.endEntry(), ignoreEnd(err))
		}
		switch t.kind {
		case text:
			d.read(t.text)
		case end:
			err = d.close(t)
		default:
			err = d.open(t)
		}
		if err != nil {
			return err
		}
	}
}

// root waits for the first element.
func (d *document) root() error {
	for {
		t, err := d.tags.next()
		if err != nil {
			return errors.Join(ErrForeign, ignoreEnd(err))
		}
		if t.kind == text || t.kind == end {
			continue
		}
		i := slices.IndexFunc(formats, func(f format) bool { return slices.Contains(f.roots, t.name) })
		if i < 0 {
			return ErrForeign
		}
		d.format = formats[i]
		d.outside = element{name: t.name, prefix: t.prefix, base: d.based(d.in.URL, t)}
		if t.name == "rdf" {
			d.outside.prefix = "" // the root alone is of RDF, all else of RSS 1.0
		}
		return nil
	}
}

// based returns what references in an element are resolved against (XML Base, section 3).
func (d *document) based(outer canon.URL, t token) canon.URL {
	if ref, ok := t.attr("xml:base"); ok {
		if u, err := d.in.Rules.Parse(outer, ref); err == nil {
			return u
		}
	}
	return outer
}

// read takes text: that of a field, or that of an entry which leaves its fields out.
func (d *document) read(text string) {
	if d.foreign == 0 {
		d.text.WriteString(text[:min(len(text), maxValue-d.text.Len())])
	}
}

// open takes a start tag.
func (d *document) open(t token) error {
	switch {
	case slices.Contains(d.entries, t.name) && t.prefix == d.outside.prefix:
		return d.beginEntry(t)
	case d.foreign > 0:
		// It lies in what says nothing, and so does it.
	case d.at == &d.outside && slices.Contains(d.around, t.name):
		return nil // what lies in it counts
	case t.name == "link" && d.link == "link" && t.has("href"):
		if err := d.hyperlink(t); err != nil {
			return err
		}
	case slices.Contains(d.fields, t.name) && (t.prefix == d.at.prefix || t.prefix == "dc"): // Dublin Core's date
		if err := d.endField(); err != nil {
			return err
		}
		if t.kind == start {
			d.field = t.name
		}
		return nil
	}
	if t.kind == start {
		d.foreign++
	}
	return nil
}

// close takes an end tag.
func (d *document) close(t token) error {
	switch {
	case d.at != &d.outside && t.name == d.at.name && t.prefix == d.at.prefix:
		if err := d.endField(); err != nil {
			return err
		}
		return d.endEntry()
	case d.foreign > 0:
		d.foreign--
		return nil
	case t.name == d.field:
		return d.endField()
	}
	return nil
}
