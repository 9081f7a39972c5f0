package crawler

import (
	"net/http"
	"slices"
	"strings"

	"crawl/internal/parse"
	"crawl/store"
)

const (
	maxAlternateBytes = 32 << 10 // of all alternates in one record
	maxRobotsTagBytes = 512

	// emptyBytes is as much text as a page without links may have beside its scripts and still look empty: a word about
	// scripts that are needed, and the white space of a template.
	emptyBytes = 1024
)

// enterFacts enters what people ask of a page.
func enterFacts(p *store.Page, found *parse.Page) {
	p.Charset, p.Title, p.Description, p.H1, p.Lang = found.Charset, found.Title, found.Description, found.Heading, found.Lang
	p.Robots = found.Robots
	if len(found.Canonical) <= maxURLBytes {
		p.Canonical = found.Canonical
	}
	left := maxAlternateBytes
	for _, a := range found.Alternates {
		if left -= len(a.URL) + len(a.Lang); left < 0 {
			break
		}
		p.Hreflang = append(p.Hreflang, store.Alternate(a))
	}
	p.NeedsScripts = needsScripts(found)
}

// enterRobotsTag enters what an answer's header says to robots, of whatever type its body is.
func enterRobotsTag(p *store.Page, header http.Header) {
	said := strings.Join(header.Values("X-Robots-Tag"), ", ")
	p.XRobotsTag = strings.ToValidUTF8(said[:min(len(said), maxRobotsTagBytes)], "")
}

// needsScripts reports whether a page looks empty without its scripts: it has some, leads nowhere, and says next to
// nothing.
func needsScripts(found *parse.Page) bool {
	if found.Scripts == 0 || found.PlainBytes > emptyBytes {
		return false
	}
	return !slices.ContainsFunc(found.Links, func(l parse.Link) bool { return l.Kind == parse.Navigation })
}
