package canon

// Rules say how a URL's key is made. The nil and the zero Rules are the safe rules. By them the key is the URL itself,
// but for its path and query, where
//   - triplets have upper-case digits, and those of unreserved characters are decoded (RFC 3986, section 6.2.2),
//   - a percent sign that begins no triplet becomes "%25", and what RFC 3986 does not allow there, such as "|", "[" or
//     "\", becomes a triplet,
//   - an empty query is left out.
//
// The key keeps what a server may tell apart: case, empty segments, a slash or a dot (of the host) at the end, the order
// of parameters, "+" and "%20", and a reserved character and its triplet. A server that tells "/x?" from "/x", or "|"
// from "%7C", is taken for one that does not.
//
// Policies on top of them (NewRules) show in Key alone: what Parse returns is requested, and has the key of the safe rules.
type Rules struct{ policies []Policy }

// Parse parses a URL by the safe rules, without a base.
func Parse(s string) (URL, error) { return (*Rules)(nil).Parse(URL{}, s) }

// Keep is Parse for a string that the URL may keep alive: one that String returned needs no memory of its own.
func Keep(s string) (URL, error) {
	if u, ok := cleanWhole(s); ok {
		return u, nil
	}
	return Parse(s)
}

// Parse resolves ref, as it stands in a document, a header or a list, against base. With the zero base, ref must be an
// absolute URL. The result shares no memory with ref. Every error is an *Error.
func (r *Rules) Parse(base URL, ref string) (URL, error) { return r.ParseEncoded(base, ref, nil) }

// ParseEncoded is Parse for a reference in a document that is not UTF-8: its query is written in the document's
// encoding, as the standard says. Host and path are UTF-8 always.
func (r *Rules) ParseEncoded(base URL, ref string, query Encoder) (URL, error) {
	if u, ok := parseClean(base, ref); ok {
		return u, nil
	}
	return parseFull(base, ref, query)
}
