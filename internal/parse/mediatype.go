package parse

import (
	"net/http"
	"strings"
)

// MediaType returns the media type of a body, in lower case and without parameters. It is what the Content-Type header
// says; only where that is missing, no media type, or one that means "unknown", the body is sniffed (RFC 9110, section
// 8.3; MIME Sniffing standard, "identifying a resource with an unknown MIME type").
func MediaType(contentType string, body []byte) string {
	mediaType := DeclaredType(contentType)
	if mediaType == "" {
		mediaType, _ = splitMediaType(http.DetectContentType(body))
	}
	return mediaType
}

// DeclaredType is MediaType before there is a body; empty where it has to be sniffed.
func DeclaredType(contentType string) string {
	mediaType, _ := splitMediaType(contentType)
	switch mediaType {
	case "*/*", "unknown/unknown", "application/unknown":
		return ""
	}
	return mediaType
}

// IsHTML reports whether HTML can read a body of this media type.
func IsHTML(mediaType string) bool {
	return mediaType == "text/html" || mediaType == "application/xhtml+xml"
}

// MayHoldLinks reports whether a body of this Content-Type is one that links may be found in: markup, text, what is packed
// text perhaps, and what has to be looked at to be known.
func MayHoldLinks(contentType string) bool {
	mediaType, _ := splitMediaType(contentType)
	switch mediaType {
	case "", "*/*", "unknown/unknown", "application/unknown", "application/xml", "application/xhtml+xml", "application/json",
		"application/javascript", "application/gzip", "application/x-gzip":
		return true
	}
	return strings.HasPrefix(mediaType, "text/") || strings.HasSuffix(mediaType, "+xml") && !strings.HasPrefix(mediaType, "image/") ||
		strings.HasSuffix(mediaType, "+json")
}

// splitMediaType returns media type and charset parameter of a Content-Type (MIME Sniffing standard, "parse a MIME
// type"), which reads more than package mime: servers leave out quotes, repeat parameters and end with semicolons.
func splitMediaType(s string) (mediaType, charset string) {
	s = strings.Trim(s, httpSpace)
	essence, params, _ := strings.Cut(s, ";")
	major, minor, _ := strings.Cut(strings.TrimRight(essence, httpSpace), "/")
	if !isHTTPToken(major) || !isHTTPToken(minor) {
		return "", ""
	}
	for params != "" {
		var name, value string
		params = strings.TrimLeft(params, httpSpace)
		end := strings.IndexAny(params, ";=")
		switch {
		case end < 0:
			params = ""
		case params[end] == ';':
			params = params[end+1:]
		default:
			name = params[:end]
			value, params = paramValue(params[end+1:])
		}
		if charset == "" && strings.EqualFold(name, "charset") {
			charset = value
		}
	}
	return strings.ToLower(major + "/" + minor), charset
}

// paramValue reads a parameter's value, quoted or not, and what stands behind the next semicolon.
func paramValue(s string) (value, rest string) {
	if strings.HasPrefix(s, `"`) {
		value, rest = quotedString(s)
		_, rest, _ = strings.Cut(rest, ";")
		return value, rest
	}
	value, rest, _ = strings.Cut(s, ";")
	return strings.TrimRight(value, httpSpace), rest
}

// httpSpace is the white space of HTTP fields.
const httpSpace = " \t\n\r"

// quotedString reads a quoted string (RFC 9110, section 5.6.4) at the start of s. One without its second quote ends
// with s.
func quotedString(s string) (value, rest string) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:]
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

func isHTTPToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && !isDigit(c) && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}
