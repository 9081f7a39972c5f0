package testweb

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// appendLink writes one link element. Most are plain anchors; the rest are what browsers understand as well.
func (c *composer) appendLink(l link) {
	switch {
	case l.nofollow:
		c.appendAnchor(l)
	case c.d.oneIn(5):
		c.b = append(c.b, "<noscript>"...)
		c.appendAnchor(l)
		c.b = append(c.b, "</noscript>"...)
	case c.d.oneIn(5):
		c.b = append(c.b, `<map name="m"><area shape="default" alt="area"`...)
		c.appendReference(" href", l.to)
		c.b = append(c.b, "></map>"...)
	case c.d.oneIn(6):
		c.b = append(c.b, "<iframe"...)
		c.appendReference(" src", l.to)
		c.b = append(c.b, "></iframe>"...)
	default:
		c.appendAnchor(l)
	}
	c.b = append(c.b, '\n')
}

// appendAnchor writes an a element with its text.
func (c *composer) appendAnchor(l link) {
	open, name := "<a", " href"
	switch c.d.roll(5) {
	case 0:
		open, name = "<A", " HREF"
	case 1:
		name = "\n   hReF"
	case 2:
		name = "/href"
	case 3:
		open = `<a class="b>c" title='1 > 0'`
	}
	c.b = append(c.b, open...)
	if l.nofollow {
		c.b = append(c.b, ` rel="external NoFollow"`...)
	}
	c.appendReference(name, l.to)
	c.b = append(c.b, '>')
	c.b = appendWords(c.b, &c.d, 2)
	c.b = append(c.b, "</a>"...)
}

// appendReference writes an attribute that refers to p.
func (c *composer) appendReference(name string, p place) {
	c.value = c.spelling.append(c.value[:0], p)
	c.appendAttribute(name, c.value)
}

// appendAttribute writes name="value" in one of the ways of HTML. The value holds no quotes and no angle brackets.
func (c *composer) appendAttribute(name string, value []byte) {
	c.b = append(c.b, name...)
	style := c.d.roll(4)
	if style < 2 && len(value) > 0 && bytes.IndexByte(value, ' ') < 0 {
		c.b = append(c.b, '=')
		c.appendEscaped(value)
		return
	}
	quote := byte('"')
	if style < 6 {
		quote = '\''
	}
	equals := "="
	if style == 6 {
		equals = " =\n "
	}
	c.b = append(append(c.b, equals...), quote)
	switch c.d.roll(5) {
	case 0:
		c.b = append(c.b, "\n   "...)
		c.appendEscaped(value)
		c.b = append(c.b, " \t\n"...)
	case 1:
		middle := splitPoint(value)
		c.appendEscaped(value[:middle])
		c.b = append(c.b, "\n\t"...) // browsers take tabs and newlines out, wherever they stand
		c.appendEscaped(value[middle:])
	default:
		c.appendEscaped(value)
	}
	c.b = append(c.b, quote)
}

// splitPoint returns a place in value that is neither inside a character nor after an ampersand: a bare "&copy" is a
// character reference unless "=" follows at once.
func splitPoint(value []byte) int {
	middle := len(value) / 2
	if i := bytes.IndexByte(value, '&'); i >= 0 {
		middle = min(middle, i)
	}
	for middle > 0 && !utf8.RuneStart(value[middle]) {
		middle--
	}
	return middle
}

var (
	ampersands = [4]string{"&amp;", "&amp;", "&", "&#38;"} // a bare one before "copy=" is no character reference
	slashes    = [4]string{"&#x2f;", "&#47;", "&#X2F;", "&sol;"}
)

// appendEscaped writes value with ampersands as character references, for the most part, and now and then a slash.
func (c *composer) appendEscaped(value []byte) {
	slash := -1
	if c.d.oneIn(5) {
		slash = bytes.IndexByte(value, '/')
	}
	for i, b := range value {
		switch {
		case b == '&':
			c.b = append(c.b, ampersands[c.d.roll(2)]...)
		case i == slash:
			c.b = append(c.b, slashes[c.d.roll(2)]...)
		default:
			c.b = append(c.b, b)
		}
	}
}

// appendDecoyMarkup writes a decoy that stands in the body. Those of the head are written with it.
func (c *composer) appendDecoyMarkup(x trait) {
	for rest, found := decoyMarkup[x], true; found; {
		var text string
		text, rest, found = strings.Cut(rest, "@")
		c.b = append(c.b, text...)
		if found {
			c.b = appendDecoy(c.b, x, c.page.n)
		}
	}
}

// decoyMarkup holds the decoys of the body; @ stands for the target.
var decoyMarkup = [decoys]string{
	inComment: "<!-- > <a href=\"@\">old</a> -- > -->\n",
	inScript: "<script>var s = \"<a href='@'>x</a>\"; <!-- <script> document.write('</script>') -->\n" +
		"if (1 < 2) s += '<a href=\"@\">';</script>\n",
	inTextarea:  "<textarea rows=2><template><a href=\"@\">x</a></template></textarea>\n",
	inAttribute: "<img src=\"/assets/dot.png\" title=\"a > b <a href='@'>x</a>\" data-href=\"@\" alt=\"-->\">\n",
	inData:      "<a href=\"data:text/html,<a href='@'>x</a>\">data</a>\n",
	inCall:      "<a href=\"javascript:go('@')\">call</a>\n",
	inFrame:     "<iframe src=\"about:blank\"><a href=\"@\">no frames</a></iframe>\n",
	inUnread:    "<!DOCTYPE html><title>not a page</title><a href=\"@\">x</a>\n",
}

// noise holds links that lead nowhere: other schemes, and addresses that are none.
var noise = [8]string{
	"<a href=\"mailto:a@www00.test\">mail</a>\n", "<a href='TEL:+123456'>call</a>\n", "<a name=here>here</a>\n",
	"<a href=\"ftp://outside.test/f\">ftp</a>\n", "<a href=\"http://[bad/\">bad</a>\n", "<a>none</a>\n",
	"<a href=\"#top\">top</a>\n", "<a href=\"\">this page</a>\n",
}

// selfNoise is where in noise the links to the page itself start. A base element would send them elsewhere.
const selfNoise = 6

// appendNoise writes two links that lead nowhere new.
func (c *composer) appendNoise() {
	kinds := len(noise)
	if c.spelling.based {
		kinds = selfNoise
	}
	for range 2 {
		c.b = append(c.b, noise[c.d.below(kinds)]...)
	}
}

// appendSecond writes an anchor whose second href is a decoy.
func (c *composer) appendSecond(l link) {
	c.b = append(c.b, "<a"...)
	c.appendReference(" href", l.to)
	c.b = append(c.b, ` href="`...)
	c.b = appendDecoy(c.b, inSecond, c.page.n)
	c.b = append(c.b, "\">two</a>\n"...)
}

// appendImage writes an image in two sizes: what a page needs, not where it leads.
func (c *composer) appendImage() {
	c.b = append(c.b, "<img src=\""...)
	c.b = c.appendAsset(c.b, imagePrefix)
	c.b = append(c.b, "\" srcset=\""...)
	c.b = c.appendAsset(c.b, bigImagePrefix)
	c.b = append(c.b, " 2x\" alt=\"\">\n"...)
}

func (c *composer) appendAsset(b []byte, prefix string) []byte {
	b = append(b, c.site.origin(c.page.host)...)
	b = append(b, prefix...)
	b = strconv.AppendInt(b, int64(c.page.n), 10)
	return append(b, imageSuffix...)
}
