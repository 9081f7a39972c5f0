package testweb

import (
	"bytes"
	"strconv"
)

// composer writes answers. It holds scratch space and serves one goroutine at a time.
type composer struct {
	site     *Site
	b        []byte // what is being written
	d        dice   // of the text; the spelling of links has its own
	page     place  // the source of what is being written
	traits   traits
	plan     plan
	spelling spelling
	value    []byte
}

// full writes an ordinary page, with the plan of p.
func (c *composer) full(p place) {
	c.start(p)
	c.traits = c.site.traitsOf(c.page)
	c.plan.make(c.site, c.page)
	c.setBase()
	start := len(c.b)
	c.appendHead()
	top := len(c.b)
	c.appendNavigation()
	end := len(c.b)
	c.appendMain(start + c.plan.size - (end - top))
	c.b = append(c.b, c.b[top:end]...)
	c.b = append(c.b, "</body></html>\n"...)
}

// start makes p the page that is being written.
func (c *composer) start(p place) {
	c.page = c.site.source(p)
	c.d = c.site.dice(c.page, forText)
	c.traits = 0
	c.spelling = spelling{
		site: c.site, d: c.site.dice(c.page, forSpelling), baseHost: c.page.host,
		basePath: c.spelling.basePath[:0], target: c.spelling.target,
		anywhere: c.site.kindOf(c.page) == original,
	}
	target := c.site.appendTarget(c.spelling.basePath, c.page)
	c.spelling.basePath, _, _ = bytes.Cut(target, []byte{'?'})
}

const (
	basePath     = "/base/of/"
	hostBasePath = "/other/"
)

func (c *composer) setBase() {
	sp := &c.spelling
	sp.latin1 = c.traits.has(inLatin1)
	switch {
	case c.traits.has(withBase):
		sp.based, sp.basePath = true, append(sp.basePath[:0], basePath...)
	case c.traits.has(withHostBase):
		sp.based, sp.basePath = true, append(sp.basePath[:0], hostBasePath...)
		sp.baseHost = (c.page.host + 1) % c.site.cfg.Hosts
	}
}

func (c *composer) appendHead() {
	origin := c.site.origin(c.page.host)
	c.b = append(c.b, "<!DOCTYPE html>\n<html lang=\"en\"><head>"...)
	c.b = append(c.b, "<title>Page "...)
	c.b = strconv.AppendInt(c.b, int64(c.page.n), 10)
	c.b = append(c.b, " of "...)
	c.b = append(c.b, c.site.names[c.page.host]...)
	c.b = append(append(c.b, ", caf"...), c.spelling.eAcute()...)
	if c.traits.has(inTitle) {
		c.b = append(c.b, " <a href="...)
		c.b = append(appendDecoy(c.b, inTitle, c.page.n), '>')
	}
	c.b = append(c.b, "</title>\n<base target=\"_self\">"...)
	switch {
	case c.traits.has(withBase):
		c.b = append(c.b, `<base href="`+basePath+`">`...)
	case c.traits.has(withHostBase):
		c.b = append(c.b, `<base href='//`...)
		c.b = append(c.b, c.site.names[c.spelling.baseHost]...)
		c.b = append(c.b, hostBasePath+"'>"...)
	}
	c.b = append(append(c.b, "\n<link rel=\"stylesheet\" href=\""...), origin...)
	c.b = append(append(c.b, stylePath+"\"><script src=\""...), origin...)
	c.b = append(c.b, scriptPath+"\"></script>\n"...)
	if c.traits.has(inStyle) {
		c.b = append(c.b, "<style>/* <a href="...)
		c.b = append(appendDecoy(c.b, inStyle, c.page.n), ">x</a> */</style>\n"...)
	}
	c.appendRefresh()
	c.b = append(c.b, "</head><body>\n"...)
}

// appendRefresh writes a link of the plan as a meta refresh, and nowhere else.
func (c *composer) appendRefresh() {
	if !c.traits.has(withRefresh) || len(c.plan.main) < 2 || c.plan.main[0].nofollow {
		return
	}
	c.b = append(c.b, "<meta HTTP-EQUIV=Refresh content=\"30; URL='"...)
	c.value = c.spelling.append(c.value[:0], c.plan.main[0].to)
	c.appendEscaped(c.value)
	c.b = append(c.b, "'\">\n"...)
	c.plan.main = c.plan.main[1:]
}

// appendNavigation writes the block of links that stands at both ends of a page.
func (c *composer) appendNavigation() {
	c.b = append(c.b, "<nav><ul>\n"...)
	for _, l := range c.plan.nav {
		c.b = append(c.b, "<li>"...)
		c.appendAnchor(l)
		c.b = append(c.b, '\n')
	}
	c.b = append(c.b, "</ul></nav>\n"...)
}

// appendMain writes the links of the plan, evenly in text, until the body has about size bytes.
func (c *composer) appendMain(size int) {
	c.b = append(c.b, "<main><h1>"...)
	c.b = appendWords(c.b, &c.d, 4)
	c.b = append(c.b, "</h1>\n"...)
	c.appendNoise()
	if c.traits.has(withOutside) {
		c.b = append(c.b, "<a href=\""...)
		c.b = c.site.appendOutside(c.b, c.page)
		c.b = append(c.b, "\">elsewhere</a>\n"...)
	}
	if c.traits.has(withImage) {
		c.appendImage()
	}
	from, links := len(c.b), c.plan.main
	for i := range max(len(links), int(decoys)) {
		if x := trait(i); x < decoys && c.traits.has(x) {
			c.appendDecoyMarkup(x)
		}
		if i >= len(links) {
			continue
		}
		c.b = c.site.filler.append(c.b, from+(size-from)*i/len(links), &c.d)
		if i == 0 && c.traits.has(inSecond) {
			c.appendSecond(links[i])
		} else {
			c.appendLink(links[i])
		}
	}
	c.b = c.site.filler.append(c.b, size, &c.d)
	c.b = append(c.b, "</main>\n"...)
}
