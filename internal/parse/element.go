package parse

// tag names the elements that matter to links and facts, or to where tags may stand.
type tag uint8

const (
	tagOther tag = iota
	tagA
	tagArea
	tagBase
	tagDesc
	tagForeignObject
	tagForm
	tagFrame
	tagH1
	tagHTML
	tagIframe
	tagImage // of SVG; HTML takes it for img
	tagImg
	tagInput
	tagLink
	tagMath
	tagMedia // audio, embed, track
	tagMeta
	tagNoscript
	tagObject
	tagPlaintext
	tagRawText // noembed, noframes, textarea, xmp: no links, but content that is no markup
	tagScript
	tagSource
	tagStyle
	tagSVG
	tagTemplate
	tagTitle
	tagUse
	tagVideo
)

func lookupTag(name []byte) tag {
	switch string(name) {
	case "a":
		return tagA
	case "area":
		return tagArea
	case "audio", "embed", "track":
		return tagMedia
	case "base":
		return tagBase
	case "desc":
		return tagDesc
	case "foreignobject":
		return tagForeignObject
	case "form":
		return tagForm
	case "frame":
		return tagFrame
	case "h1":
		return tagH1
	case "html":
		return tagHTML
	case "iframe":
		return tagIframe
	case "image", "feimage":
		return tagImage
	case "img":
		return tagImg
	case "input":
		return tagInput
	case "link":
		return tagLink
	case "math":
		return tagMath
	case "meta":
		return tagMeta
	case "noscript":
		return tagNoscript
	case "noembed", "noframes", "textarea", "xmp":
		return tagRawText
	case "object":
		return tagObject
	case "plaintext":
		return tagPlaintext
	case "script":
		return tagScript
	case "source":
		return tagSource
	case "style":
		return tagStyle
	case "svg":
		return tagSVG
	case "template":
		return tagTemplate
	case "title":
		return tagTitle
	case "use":
		return tagUse
	case "video":
		return tagVideo
	}
	return tagOther
}

// attr names the attributes that matter to links and facts.
type attr uint8

const (
	attrOther attr = iota
	attrAction
	attrBackground
	attrCharset
	attrContent
	attrData
	attrHref
	attrHreflang
	attrHTTPEquiv
	attrImageSrcset
	attrLang
	attrMethod
	attrName
	attrPoster
	attrRel
	attrShadowRootMode
	attrSrc
	attrSrcset
	attrStyle
	attrType
	attrXlinkHref
	attrXMLLang
	attrs
)

func lookupAttr(key []byte) attr {
	switch string(key) {
	case "action":
		return attrAction
	case "background":
		return attrBackground
	case "charset":
		return attrCharset
	case "content":
		return attrContent
	case "data":
		return attrData
	case "href":
		return attrHref
	case "hreflang":
		return attrHreflang
	case "http-equiv":
		return attrHTTPEquiv
	case "imagesrcset":
		return attrImageSrcset
	case "lang":
		return attrLang
	case "method":
		return attrMethod
	case "name":
		return attrName
	case "poster":
		return attrPoster
	case "rel":
		return attrRel
	case "shadowrootmode":
		return attrShadowRootMode
	case "src":
		return attrSrc
	case "srcset":
		return attrSrcset
	case "style":
		return attrStyle
	case "type":
		return attrType
	case "xlink:href":
		return attrXlinkHref
	case "xml:lang":
		return attrXMLLang
	}
	return attrOther
}

// element holds the attributes of a start tag that matter, their character references decoded.
type element struct {
	values  [attrs][]byte
	has     uint32 // bit a: values[a] is of this element
	decoded []byte // holds the values that are not in the text as they are
}

// get returns the value of an attribute and whether the element has it.
func (e *element) get(a attr) (value []byte, ok bool) {
	if e.has&(1<<a) == 0 {
		return nil, false
	}
	return e.values[a], true
}

// value returns the value of an attribute, empty where there is none.
func (e *element) value(a attr) []byte {
	v, _ := e.get(a)
	return v
}
