package testweb

import (
	"bytes"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// found is a link that a browser would find in a page.
type found struct {
	ref      string
	nofollow bool
}

// parsed is a page as html.Parse and net/url understand it.
type parsed struct {
	base  string // of the base element, unresolved
	links []found
}

// parse finds the navigation links of a page. It knows nothing of the site.
func parse(t *testing.T, r Response) parsed {
	t.Helper()
	body := r.Body
	if r.ContentType == htmlLatin1 {
		runes := make([]rune, len(body))
		for i, b := range body {
			runes[i] = rune(b)
		}
		body = []byte(string(runes))
	}
	root, err := html.ParseWithOptions(bytes.NewReader(body), html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatal(err)
	}
	var p parsed
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "a", "area":
			if ref, ok := attribute(n, "href"); ok {
				rel, _ := attribute(n, "rel")
				p.links = append(p.links, found{ref, strings.Contains(strings.ToLower(rel), "nofollow")})
			}
		case "iframe", "frame":
			if ref, ok := attribute(n, "src"); ok {
				p.links = append(p.links, found{ref: ref})
			}
		case "base":
			if href, ok := attribute(n, "href"); ok && p.base == "" {
				p.base = href
			}
		case "meta":
			if v, _ := attribute(n, "http-equiv"); strings.EqualFold(v, "refresh") {
				content, _ := attribute(n, "content")
				_, ref, _ := strings.Cut(content, "URL='")
				p.links = append(p.links, found{ref: strings.TrimSuffix(ref, "'")})
			}
		}
	}
	return p
}

func attribute(n *html.Node, key string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val, true
		}
	}
	return "", false
}

// resolve does with net/url what browsers do, for the references of this web: white space, dots spelled in triplets and
// a lone % are put right before. ok is false for what is no http or https URL.
func resolve(base, ref string) (string, bool) {
	b, err := url.Parse(browserSpelling(base))
	if err != nil {
		return "", false
	}
	u, err := b.Parse(browserSpelling(ref))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", false
	}
	u.Fragment = ""
	u.Host = strings.ToLower(u.Host)
	return u.String(), true
}

func browserSpelling(s string) string {
	s = strings.NewReplacer("\t", "", "\n", "").Replace(strings.Trim(s, " \t\n"))
	return strings.NewReplacer("%2e", ".", "%2E", ".", "100%-", "100%25-").Replace(s)
}

// crawl is a little crawler in one goroutine: the site's Get, parse and resolve, and of the model only the class of a
// URL, to know what robots.txt forbids. It returns what it asked for.
func crawl(t *testing.T, s *Site, seeds []string, follow func(address) bool) []string {
	t.Helper()
	var fetched []string
	queue, seen := append([]string(nil), seeds...), map[string]bool{}
	for _, seed := range seeds {
		seen[seed] = true
	}
	push := func(ref string) {
		a, key := s.find(ref)
		if !seen[key] && follow(a) {
			seen[key] = true
			queue = append(queue, ref)
		}
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		fetched = append(fetched, at)
		r := s.Get(at)
		if r.Location != "" {
			if to, ok := resolve(at, r.Location); ok {
				push(to)
			}
			continue
		}
		if !strings.HasPrefix(r.ContentType, "text/html") {
			continue
		}
		p := parse(t, r)
		base, _ := resolve(at, p.base)
		for _, l := range p.links {
			if to, ok := resolve(base, l.ref); ok && !l.nofollow {
				push(to)
			}
		}
	}
	return fetched
}
