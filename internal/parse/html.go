package parse

// htmlElement reads an element of HTML. It returns true where the element says that the page is in another encoding.
func (p *Parser) htmlElement(t tag) (again bool) {
	switch t {
	case tagA:
		p.anchor(SourceA, attrHref)
	case tagArea:
		p.anchor(SourceArea, attrHref)
	case tagLink:
		p.linkElement()
	case tagBase:
		if href, ok := p.element.get(attrHref); ok && !p.hasBase {
			p.base, p.hasBase = append(p.base, trimRef(href)...), true
		}
	case tagMeta:
		return p.metaElement()
	case tagIframe:
		p.addAttr(attrSrc, SourceIframe)
	case tagFrame:
		p.addAttr(attrSrc, SourceFrame)
	case tagForm:
		p.form()
	case tagHTML:
		p.language()
	default:
		p.partElement(t)
	}
	return false
}

// partElement reads an element that shows a part of the page.
func (p *Parser) partElement(t tag) {
	switch t {
	case tagImg, tagImage:
		p.addAttr(attrSrc, SourceImg)
		p.addSrcset(attrSrcset)
	case tagInput:
		if equalFold(p.element.value(attrType), "image") {
			p.addAttr(attrSrc, SourceImg)
		}
	case tagSource:
		p.addAttr(attrSrc, SourceSource)
		p.addSrcset(attrSrcset)
	case tagVideo:
		p.addAttr(attrSrc, SourceMedia)
		p.addAttr(attrPoster, SourceMedia)
	case tagMedia:
		p.addAttr(attrSrc, SourceMedia)
	case tagObject:
		p.addAttr(attrData, SourceMedia)
	case tagScript:
		p.page.Scripts++
		p.addAttr(attrSrc, SourceScript)
	}
}

// foreignElement reads an element of SVG. Its href may still be written xlink:href (SVG 2, section 5.14).
func (p *Parser) foreignElement(t tag) {
	href := attrHref
	if _, ok := p.element.get(attrHref); !ok {
		href = attrXlinkHref
	}
	switch t {
	case tagA:
		p.anchor(SourceA, href)
	case tagImage:
		p.addAttr(href, SourceImg)
	case tagScript:
		p.addAttr(href, SourceScript)
	case tagUse:
		p.addAttr(href, SourceMedia)
	}
}

func (p *Parser) addAttr(a attr, s Source) {
	if value, ok := p.element.get(a); ok {
		p.add(value, ref{source: s, kind: s.kind()})
	}
}

func (p *Parser) addSrcset(a attr) {
	value, ok := p.element.get(a)
	if !ok {
		return
	}
	for url := range srcset(value) {
		p.add(url, ref{source: SourceSrcset, kind: SourceSrcset.kind()})
	}
}

func (p *Parser) anchor(s Source, href attr) {
	if value, ok := p.element.get(href); ok {
		p.add(value, ref{source: s, kind: s.kind(), noFollow: p.saysNoFollow()})
	}
}

func (p *Parser) saysNoFollow() bool { return hasToken(p.element.value(attrRel), "nofollow") }

func (p *Parser) linkElement() {
	p.addSrcset(attrImageSrcset)
	rel := p.element.value(attrRel)
	href, ok := p.element.get(attrHref)
	if !ok || namesHost(rel) {
		return
	}
	p.alternate(rel, href)
	r := ref{source: SourceLink, kind: relKind(rel), noFollow: p.saysNoFollow()}
	switch {
	case hasToken(rel, "canonical"):
		r.source, r.kind, r.canonical = SourceCanonical, SourceCanonical.kind(), true
	case r.kind == Other && hasToken(rel, "alternate") && len(p.element.value(attrHreflang)) > 0:
		r.source = SourceHreflang
	}
	p.add(href, r)
}

// form reads a form. Only one that is sent by GET, which is also what an unknown method means, asks for a page.
func (p *Parser) form() {
	method := p.element.value(attrMethod)
	if equalFold(method, "post") || equalFold(method, "dialog") {
		return
	}
	if action, ok := p.element.get(attrAction); ok {
		p.add(action, ref{source: SourceForm, kind: SourceForm.kind(), noFollow: p.saysNoFollow()})
	}
}

func (p *Parser) metaElement() (again bool) {
	content := p.element.value(attrContent)
	switch name := p.element.value(attrName); {
	case equalFold(name, "robots") || p.in.Agent != "" && equalFold(name, p.in.Agent):
		p.readRobots(content)
	case equalFold(name, "description") && p.page.Description == "":
		p.page.Description = collapsed(content, maxDescription)
	}
	pragma := p.element.value(attrHTTPEquiv)
	if equalFold(pragma, "refresh") {
		p.refresh(content, false)
	}
	if p.certain {
		return false
	}
	c := lookupMeta(p.element.value(attrCharset))
	if c.name == "" && equalFold(pragma, "content-type") {
		c = contentCharset(content)
	}
	return p.changeCharset(c)
}

// changeCharset settles the page's encoding by what a meta element says (HTML standard, "change the encoding"), and
// reports whether the page was read in another one so far.
func (p *Parser) changeCharset(c charset) (again bool) {
	if c.name == "" {
		return false
	}
	again = c.name != p.charset.name
	p.charset, p.certain = c, true
	return again
}
