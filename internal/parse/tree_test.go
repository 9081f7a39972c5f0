package parse

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"crawl/canon"
)

// TestAgainstTree reads random pages as HTML does and through the tree builder, which knows what each tag closes, and
// compares the links. Elements are closed in order: what place does not know of wrong nesting, it says.
func TestAgainstTree(t *testing.T) {
	pages := 20000
	if testing.Short() {
		pages = 2000
	}
	g := generator{Rand: rand.New(rand.NewPCG(1, 2))}
	for range pages {
		g.Reset()
		g.html(5)
		body := g.String()
		doc, err := buildTree([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		want := treeLinks(doc, nil)
		var got []string
		for _, l := range page(t, "http://h/", "text/html", []byte(body)).Links {
			got = append(got, l.URL.Path())
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(slices.Compact(got), slices.Compact(want)) {
			t.Fatalf("page %q\n got %q\ntree %q", body, got, want)
		}
	}
}

// generator writes random pages in which each link has a number of its own.
type generator struct {
	*rand.Rand
	strings.Builder
	links  int
	inline int // how many svg elements are open: the tree builder drops the rest of a page with a template inside
}

// write writes one of the pieces. %d in it becomes the next link, and what stands behind %s, its end tag, comes after
// inside.
func (g *generator) write(pieces []string, inside func()) {
	start, end, nested := strings.Cut(pieces[g.IntN(len(pieces))], "%s")
	for strings.Contains(start, "%d") {
		g.links++
		start = strings.Replace(start, "%d", fmt.Sprint(g.links), 1)
	}
	g.WriteString(start)
	if nested {
		inside()
		g.WriteString(end)
	}
}

var textPieces = []string{"x", " ", "< ", ">", "\"", "'", "&lt;a href=x>", "--&gt;", "]]>", "<1>"}

var voidPieces = []string{
	"<!-- <a href=no> -->", "<!-->", "<!--->", "<!-- --!>", "<!x>", "<?x>", "</ x>", "<br>", "</br>", "<img src=%d>", "<image src=%d>",
	"<area href='%d'>", "<link\nhref=%d>", "<meta>", "<base>", "<hr>", "<input>", "<font>x</font>",
	"<script>'<a href=no>'</script>", "<script><!--<script></script><a href=no>--></script>", "<style><a href=no></style>",
	"<title><a href=no></title>", "<textarea><a href=no></textarea>", "<xmp><a href=no></xmp>", "<svg/>", "<video src=%d></video>",
	"<iframe src=%d><a href=no></iframe>", "<noscript><img src=%d></noscript>", "<a/href=%d/title='>'></a>", "<a href=%d href=no></a>",
	"<![CDATA[<a href=no>]]>",
}

var htmlPieces = []string{
	"<a href=%d>%s</a>", "<A TITLE='>' HREF = \"%d\" >%s</A>", "<p>%s</p>", "<div>%s</div>", "<b>%s</b>", "<span>%s</span>",
	"<ul><li>%s</ul>", "<table><tr><td>%s</table>", "<h1>%s</h1>", "<font color=red>%s</font>",
}

var foreignPieces = []string{
	"<g>%s</g>", "<a href=%d>%s</a>", "<a xlink:href=%d>%s</a>", "<image href=%d />", "<image src=no />", "<iframe src=no></iframe>",
	"<style/>", "<script/>", "<title/>", "<style>%s</style>", "<script>%s</script>", "<textarea>%s</textarea>", "<noscript>%s</noscript>",
	"<![CDATA[<a href=no>]]>", "<!-- <a href=no> -->", "<path d=z />", "<template>%s</template>", "<font>%s</font>",
	"<title>x<a href=%d></a></title>",
}

func (g *generator) html(depth int) {
	for range g.IntN(4) {
		switch n := g.IntN(8); {
		case n < 2:
			g.write(textPieces, nil)
		case n < 5 || depth == 0:
			g.write(voidPieces, nil)
		case n < 6:
			g.write(htmlPieces, func() { g.html(depth - 1) })
		case n < 7 && g.inline == 0:
			g.write([]string{"<template>%s</template>"}, func() { g.html(depth - 1) })
		default:
			g.inline++
			g.write([]string{"<svg>%s</svg>"}, func() { g.svg(depth - 1) })
			g.inline--
		}
	}
}

func (g *generator) svg(depth int) {
	for range g.IntN(4) {
		if depth > 0 && g.IntN(4) == 0 {
			g.write([]string{"<foreignObject>x%s</foreignObject>", "<desc>x%s</desc>"}, func() { g.html(depth - 1) })
		} else {
			g.write(foreignPieces, func() { g.svg(max(depth-1, 0)) })
		}
	}
}

// treeLinks appends the paths of the links at and below a node.
func treeLinks(n *html.Node, links []string) []string {
	foreign := n.Namespace != ""
	for _, a := range n.Attr {
		ok := a.Key == "href"
		switch n.Data {
		case "a":
		case "image":
			ok = ok && foreign
		case "area", "link":
			ok = ok && !foreign
		case "img", "iframe", "video":
			ok = a.Key == "src" && !foreign
		default:
			ok = false
		}
		if ok && (a.Namespace == "" || foreign) {
			u, _ := canon.Parse("http://h/" + a.Val)
			links = append(links, u.Path())
		}
	}
	switch n.Data {
	case "template":
		if !foreign {
			return links
		}
	case "script", "style":
		return links
	}
	for c := range n.ChildNodes() {
		links = treeLinks(c, links)
	}
	return links
}
