package parse

import (
	"bytes"
	"iter"
)

// cssLinks yields the URLs that a browser would load for a style sheet: those of url() and src() wherever a value may stand,
// the strings of image-set(), and those of @import, where it stands before all rules (CSS Cascade, "the @import rule"). What
// only names something is none: @namespace, @charset, the conditions of @supports and @document, attr(), format(), selectors'
// strings. A URL is yielded as it is written, escapes decoded, also where it is empty or a data URL; it is valid until the
// next.
func cssLinks(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		r := cssReader{z: cssScanner{text: text}}
		r.read(yield)
	}
}

// cssDeclarations is cssLinks for the value of a style attribute, which holds declarations and no rules.
func cssDeclarations(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		r := cssReader{z: cssScanner{text: text}, depth: 1}
		r.read(yield)
	}
}

// cssReader follows where in a style sheet the tokens stand, as far as that decides which of them are URLs that are loaded.
type cssReader struct {
	z       cssScanner
	depth   int // of braces
	prelude cssPrelude
	inRule  bool // outside of braces: a rule's selector has begun
	ruled   bool // a rule has been: @import means nothing any more
	calls   []cssCall
	deeper  int // parentheses that are open beyond those in calls
}

// cssPrelude says what stands between an at-keyword and its block or semicolon.
type cssPrelude uint8

const (
	noPrelude     cssPrelude = iota
	importPrelude            // what is imported is still to come
	otherPrelude             // names nothing that is loaded
)

// cssCall is a parenthesis that is open, by what strings in it are.
type cssCall uint8

const (
	plainCall    cssCall = iota
	urlCall              // the first string is a URL
	imageSetCall         // each string is one
)

// maxCalls is how many parentheses are kept. Strings deeper inside are no URLs.
const maxCalls = 32

// read hands the URLs over.
func (r *cssReader) read(yield func([]byte) bool) {
	for {
		token := r.z.next()
		switch token {
		case cssEnd:
			return
		case cssSpace, cssComment:
			continue
		case cssSemicolon:
			r.prelude = noPrelude
			r.closeCalls()
			continue
		case cssOpenBrace:
			r.open()
			continue
		case cssCloseBrace:
			r.close()
			continue
		case cssAtKeyword:
			r.atRule()
			continue
		}
		if r.depth == 0 && r.prelude == noPrelude {
			r.inRule = true
		}
		if r.loads(token) && !yield(r.z.value) {
			return
		}
	}
}

func (r *cssReader) open() {
	if r.depth == 0 {
		r.ruled = true
	}
	r.depth++
	r.prelude = noPrelude
	r.closeCalls()
}

func (r *cssReader) close() {
	if r.depth > 0 {
		r.depth--
	}
	r.inRule = false
	r.prelude = noPrelude
	r.closeCalls()
}

func (r *cssReader) closeCalls() { r.calls, r.deeper = r.calls[:0], 0 }

// atRule begins an at-rule, unless a selector has begun: then it is a part of that.
func (r *cssReader) atRule() {
	if r.inRule {
		return
	}
	r.prelude = otherPrelude
	switch {
	case r.depth > 0 || r.ruled:
	case equalFold(r.z.value, "import"):
		r.prelude = importPrelude
	case equalFold(r.z.value, "namespace"):
		r.ruled = true
	}
}

// loads follows a token, and reports whether its value is a URL that is loaded.
func (r *cssReader) loads(token cssToken) bool {
	switch token {
	case cssFunction:
		r.call(callOf(r.z.value))
	case cssOpenParen:
		r.call(plainCall)
	case cssCloseParen:
		r.endCall()
	case cssURL:
		return r.named()
	case cssString:
		return r.stringNames()
	default:
		if r.prelude == importPrelude {
			r.prelude = otherPrelude // it imports nothing
		}
	}
	return false
}

func callOf(name []byte) cssCall {
	switch {
	case equalFold(name, "url"), equalFold(name, "src"):
		return urlCall
	case equalFold(name, "image-set"), equalFold(name, "-webkit-image-set"):
		return imageSetCall
	}
	return plainCall
}

func (r *cssReader) call(c cssCall) {
	if r.prelude == importPrelude && c != urlCall {
		r.prelude = otherPrelude
	}
	if len(r.calls) == maxCalls {
		r.deeper++
		return
	}
	r.calls = append(r.calls, c)
}

func (r *cssReader) endCall() {
	switch n := len(r.calls); {
	case r.deeper > 0:
		r.deeper--
	case n > 0:
		r.calls = r.calls[:n-1]
	}
}

// stringNames reports whether a string is a URL.
func (r *cssReader) stringNames() bool {
	last := len(r.calls) - 1
	switch {
	case r.deeper > 0:
		return false
	case last < 0:
		return r.prelude == importPrelude && r.named()
	case r.calls[last] == urlCall:
		r.calls[last] = plainCall
		return r.named()
	case r.calls[last] == imageSetCall:
		return r.named()
	}
	return false
}

// named reports whether a URL that stands here is loaded. A prelude has one at most.
func (r *cssReader) named() bool {
	if r.prelude == noPrelude {
		return r.depth > 0 // and no part of a selector
	}
	imports := r.prelude == importPrelude
	r.prelude = otherPrelude
	return imports
}

// cssCharset returns the charset that a style sheet names (CSS Syntax, "determine the fallback encoding").
func cssCharset(body []byte) charset {
	const start = `@charset "`
	body = body[:min(len(body), prescanBytes)]
	if !bytes.HasPrefix(body, []byte(start)) {
		return charset{}
	}
	label, _, ok := bytes.Cut(body[len(start):], []byte(`";`))
	if !ok {
		return charset{}
	}
	return lookupMeta(label)
}
