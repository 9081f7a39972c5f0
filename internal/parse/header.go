package parse

import (
	"iter"
	"strings"
)

// readHeader reads what the response's header says of the page. Its references are relative to the page, whatever base
// the document has (RFC 8288, section 3.2).
func (p *Parser) readHeader() {
	h := p.in.Header
	for _, value := range h.Values("Link") {
		for l := range linkHeader(value) {
			p.addHeaderLink(l)
		}
	}
	if value := h.Get("Refresh"); value != "" {
		p.refresh([]byte(value), true)
	}
	for _, value := range h.Values("X-Robots-Tag") {
		if robotsTag(value, p.in.Agent) {
			p.page.NoFollow = true
		}
	}
}

func (p *Parser) addHeaderLink(l headerLink) {
	rel := []byte(l.rel)
	if namesHost(rel) {
		return
	}
	p.add([]byte(l.target), ref{
		source:    SourceHeader,
		kind:      relKind(rel),
		noFollow:  hasToken(rel, "nofollow"),
		header:    true,
		canonical: !l.anchored && hasToken(rel, "canonical"),
	})
}

// headerLink is one link of a Link header.
type headerLink struct {
	target   string
	rel      string
	anchored bool // says something of another resource
}

// linkHeader yields the links of a Link header (RFC 8288, appendix B.2). What stands where a link should start is
// passed over up to the next comma.
func linkHeader(s string) iter.Seq[headerLink] {
	return func(yield func(headerLink) bool) {
		for {
			s = strings.TrimLeft(s, httpSpace+",")
			if s == "" {
				return
			}
			if s[0] != '<' {
				_, s, _ = strings.Cut(s, ",")
				continue
			}
			var l headerLink
			var ok bool
			if l.target, s, ok = strings.Cut(s[1:], ">"); !ok {
				return
			}
			s = l.readParams(s)
			if !yield(l) {
				return
			}
		}
	}
}

// readParams reads the parameters of a link and returns what stands behind them and their comma.
func (l *headerLink) readParams(s string) (rest string) {
	hasRel := false
	for {
		s = strings.TrimLeft(s, httpSpace)
		if !strings.HasPrefix(s, ";") {
			_, rest, _ = strings.Cut(s, ",")
			return rest
		}
		s = strings.TrimLeft(s[1:], httpSpace)
		end := strings.IndexAny(s, "=;,")
		if end < 0 {
			return ""
		}
		name := strings.TrimRight(s[:end], httpSpace)
		value := ""
		s = s[end:]
		if s[0] == '=' {
			value, s = linkParamValue(strings.TrimLeft(s[1:], httpSpace))
		}
		switch {
		case strings.EqualFold(name, "rel") && !hasRel: // of several the first counts
			l.rel, hasRel = value, true
		case strings.EqualFold(name, "anchor"):
			l.anchored = true
		}
	}
}

func linkParamValue(s string) (value, rest string) {
	if strings.HasPrefix(s, `"`) {
		return quotedString(s)
	}
	end := strings.IndexAny(s, ";,")
	if end < 0 {
		end = len(s)
	}
	return strings.TrimRight(s[:end], httpSpace), s[end:]
}
