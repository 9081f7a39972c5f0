package parse

import "crawl/canon"

// Source says what a link was found in.
type Source uint8

// The sources. The package comment says what each of them holds.
const (
	SourceA Source = iota
	SourceArea
	SourceLink
	SourceIframe
	SourceFrame
	SourceImg
	SourceSrcset
	SourceSource
	SourceMedia
	SourceScript
	SourceForm
	SourceRefresh
	SourceCanonical
	SourceHreflang
	SourceHeader
	SourceCSS
	sources
)

var sourceNames = [sources]string{
	"a", "area", "link", "iframe", "frame", "img", "srcset", "source", "media", "script", "form", "refresh", "canonical",
	"hreflang", "header", "css",
}

// String returns the word by which records and commands name the source.
func (s Source) String() string { return sourceNames[s] }

// Kind says what a link is for. Of two kinds the greater one is followed rather.
type Kind uint8

// The kinds.
const (
	Other      Kind = iota // names a page without leading to it: canonical, hreflang, forms, most link elements
	Requisite              // a part of the page: images, scripts, media, style sheets, icons, what is preloaded
	Navigation             // leads to another page: a, area, iframe, frame, refresh
)

// String returns the kind in words.
func (k Kind) String() string { return [...]string{"other", "requisite", "navigation"}[k] }

// kind returns the kind of a source's links. For SourceLink and SourceHeader the link's rel decides: relKind.
func (s Source) kind() Kind {
	switch s {
	case SourceA, SourceArea, SourceIframe, SourceFrame, SourceRefresh:
		return Navigation
	case SourceImg, SourceSrcset, SourceSource, SourceMedia, SourceScript, SourceCSS:
		return Requisite
	}
	return Other
}

// Link is a reference of a page, resolved.
type Link struct {
	URL      canon.URL
	Source   Source
	Kind     Kind // the greatest, where the source said the URL with several
	NoFollow bool // rel=nofollow each time the source said the URL
}

// relKind returns the kind of a link that has its purpose in rel.
func relKind(rel []byte) Kind {
	if hasToken(rel, "stylesheet", "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon", "manifest",
		"preload", "modulepreload") {
		return Requisite
	}
	return Other
}

// namesHost reports whether rel asks for no more than a connection to a host.
func namesHost(rel []byte) bool {
	some := false
	for token := range tokens(rel) {
		if !equalFold(token, "preconnect") && !equalFold(token, "dns-prefetch") {
			return false
		}
		some = true
	}
	return some
}
