package fetch

import (
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"crawl/canon"
)

// parseSetCookie reads a Set-Cookie field of u's answer (RFC 6265, sections 5.2 and 5.3). It takes what browsers take:
// quotes, commas and blanks within a value are parts of it. ok is false for what is no cookie, is too long, or names a
// domain that no host may set cookies for.
func parseSetCookie(field string, u canon.URL, now time.Time) (c Cookie, ok bool) {
	pair, attributes, _ := strings.Cut(field, ";")
	name, value, found := strings.Cut(pair, "=")
	c.Name, c.Value = trimBlanks(name), trimBlanks(value)
	if !found || c.Name == "" || len(c.Name)+len(c.Value) > maxCookieBytes || hasControl(c.Name+c.Value) {
		return Cookie{}, false
	}
	c.Domain, c.HostOnly, c.Path = bareName(u), true, defaultPath(u.Path())
	hasMaxAge, hasPath := false, false
	for attributes != "" {
		var attribute string
		attribute, attributes, _ = strings.Cut(attributes, ";")
		key, value, _ := strings.Cut(attribute, "=")
		value = trimBlanks(value)
		switch strings.ToLower(trimBlanks(key)) {
		case "expires":
			if at, ok := cookieDate(value); ok && !hasMaxAge {
				c.Expires = at
			}
		case "max-age":
			if age, ok := maxAge(value); ok {
				c.Expires, hasMaxAge = now.Add(age), true
			}
		case "domain":
			if value != "" {
				c.Domain, c.HostOnly = strings.ToLower(strings.TrimPrefix(value, ".")), false
			}
		case "path":
			if c.Path, hasPath = value, strings.HasPrefix(value, "/"); !hasPath {
				c.Path = defaultPath(u.Path())
			}
		case "secure":
			c.Secure = true
		}
	}
	if len(c.Path) > maxCookiePath || len(c.Domain) > maxCookieDomains || hasControl(c.Path) {
		return Cookie{}, false
	}
	if hasPrefixFold(c.Name, "__Host-") && !hasPath {
		return Cookie{}, false // the path is to be said, not to follow from where it is set
	}
	ok = c.narrowDomain(bareName(u))
	return c.ownTexts(), ok
}

// ownTexts copies a cookie off the head that it came in.
func (c Cookie) ownTexts() Cookie {
	all := strings.Clone(c.Name + c.Value + c.Domain + c.Path)
	cut := func(s string) string {
		part := all[:len(s)]
		all = all[len(s):]
		return part
	}
	c.Name, c.Value, c.Domain, c.Path = cut(c.Name), cut(c.Value), cut(c.Domain), cut(c.Path)
	return c
}

// narrowDomain refuses a domain for which nobody may set cookies, a public suffix or an address. Where that is the host
// itself, the cookie is for the host alone.
func (c *Cookie) narrowDomain(host string) bool {
	suffix, _ := publicsuffix.PublicSuffix(c.Domain)
	if c.HostOnly || !isAddress(c.Domain) && suffix != c.Domain {
		return true
	}
	c.HostOnly = true
	return c.Domain == host
}

// defaultPath is the folder that a path is in (RFC 6265, section 5.1.4).
func defaultPath(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

// maxAge reads seconds; what is not positive has expired.
func maxAge(text string) (age time.Duration, ok bool) {
	const longest = 400 * 24 * time.Hour // by the successor of RFC 6265, and short of an overflow
	digits, negative := strings.CutPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	for _, d := range []byte(digits) {
		age = min(age*10+time.Duration(d-'0')*time.Second, longest)
	}
	if negative {
		return 0, true
	}
	return age, true
}

func trimBlanks(s string) string { return strings.Trim(s, " \t") }

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f })
}
