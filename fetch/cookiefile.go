package fetch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// A CookieLineError names a line of a cookies.txt that holds no cookie. What stands there is not shown.
type CookieLineError struct {
	Line int
	Err  error
}

func (e *CookieLineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

func (e *CookieLineError) Unwrap() error { return e.Err }

// maxCookieLine is the longest line of a file, and maxCookieFile the most that is read of it.
const (
	maxCookieLine = maxCookieBytes + maxCookiePath + 1<<10
	maxCookieFile = 16 << 20
)

// ReadCookies reads a cookies.txt as Netscape had it and as curl and browsers' extensions write it: domain, whether names
// below it count, path, whether https alone, expiry in Unix seconds (0: none), name and value, with tabs between them.
// Lines that begin with # are comments but for #HttpOnly_. A line that is no cookie comes as a *CookieLineError, after
// which the others follow; any other error ends the sequence.
func ReadCookies(r io.Reader) iter.Seq2[Cookie, error] {
	return func(yield func(Cookie, error) bool) {
		in := &io.LimitedReader{R: r, N: maxCookieFile + 1}
		lines := bufio.NewScanner(in)
		lines.Buffer(make([]byte, 0, 4<<10), maxCookieLine)
		n := 0
		for lines.Scan() {
			n++
			line := strings.TrimSuffix(lines.Text(), "\r")
			if n == 1 {
				line = strings.TrimPrefix(line, "\ufeff")
			}
			line = strings.TrimPrefix(line, "#HttpOnly_")
			if strings.TrimSpace(line) == "" || line[0] == '#' {
				continue
			}
			c, err := cookieOfLine(line)
			if err != nil {
				err = &CookieLineError{n, err}
			}
			if !yield(c, err) {
				return
			}
		}
		err := lines.Err()
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			err = fmt.Errorf("line %d: longer than %d bytes: no cookies.txt", n+1, maxCookieLine)
		case in.N == 0:
			err = fmt.Errorf("longer than %d bytes: no cookies.txt", maxCookieFile)
		}
		if err != nil {
			yield(Cookie{}, err)
		}
	}
}

func cookieOfLine(line string) (Cookie, error) {
	parts := strings.Split(line, "\t")
	if len(parts) == 6 { // an empty value at the end of a line that an editor has trimmed
		parts = append(parts, "")
	}
	if len(parts) != 7 {
		return Cookie{}, fmt.Errorf("want 7 fields with tabs between them, got %d", len(parts))
	}
	domain, below := strings.CutPrefix(parts[0], ".")
	c := Cookie{Name: parts[5], Value: parts[6], Path: parts[2]}
	var all bool
	var err error
	if c.Domain, err = cookieDomain(domain); err != nil {
		return Cookie{}, err
	}
	if all, err = trueOrFalse("second", parts[1]); err != nil {
		return Cookie{}, err
	}
	if c.Secure, err = trueOrFalse("fourth", parts[3]); err != nil {
		return Cookie{}, err
	}
	if c.Expires, err = cookieExpiry(parts[4]); err != nil {
		return Cookie{}, err
	}
	c.HostOnly = !all && !below || isAddress(c.Domain)
	if !strings.HasPrefix(c.Path, "/") || len(c.Path) > maxCookiePath || hasControl(c.Path) {
		return Cookie{}, errors.New("want a path that begins with a slash in the third field")
	}
	if c.Name == "" || len(c.Name)+len(c.Value) > maxCookieBytes || hasControl(c.Name+c.Value) || strings.Contains(c.Name+c.Value, ";") {
		return Cookie{}, errors.New("want a name and a value that can be sent in the last two fields")
	}
	return c.ownTexts(), nil
}

// cookieExpiry reads Unix seconds, of which some write fractions.
func cookieExpiry(text string) (at time.Time, err error) {
	seconds, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || seconds != seconds:
		return at, errors.New("want Unix seconds in the fifth field")
	case seconds > 0:
		at = time.Unix(int64(min(seconds, 1<<40)), 0)
	}
	return at, nil
}

func cookieDomain(text string) (string, error) {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "."), ".")
	if a, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return a.String(), nil
	}
	name, err := strings.ToLower(text), error(nil)
	if strings.ContainsFunc(text, func(c rune) bool { return c >= utf8.RuneSelf }) {
		name, err = idna.Lookup.ToASCII(text)
	}
	if err != nil || name == "" || len(name) > maxCookieDomains || strings.ContainsAny(name, " /:") {
		return "", errors.New("want a domain in the first field")
	}
	return name, nil
}

func trueOrFalse(which, text string) (bool, error) {
	switch {
	case strings.EqualFold(text, "true"):
		return true, nil
	case strings.EqualFold(text, "false"):
		return false, nil
	}
	return false, fmt.Errorf("want TRUE or FALSE in the %s field", which)
}
