package fetch

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// framing says where the body of an answer ends, and whether another answer may follow it.
type framing struct {
	chunked bool
	length  int64    // -1: not known beforehand
	codings []string // other transfer codings, the first one applied first
	keep    bool     // the connection may serve another request
}

// frame reads the framing off a head (RFC 9112, section 6.3). Two different lengths are refused, as browsers do: either may
// be wrong. Otherwise what is doubtful ends the connection with the answer, so that nothing of it is taken for the next one.
// headOnly: it answers a HEAD.
func (h *head) frame(headOnly bool) (framing, error) {
	f := framing{length: -1, keep: h.persistent() && !h.odd}
	length, sound, err := contentLength(h.header["Content-Length"])
	if err != nil {
		return framing{}, err
	}
	transfer := h.header["Transfer-Encoding"]
	switch {
	case headOnly || h.status == http.StatusNoContent || h.status == http.StatusNotModified:
		// They have no body. Some servers send one all the same, perhaps late: a head that speaks of one is the connection's last.
		f.length = 0
		f.keep = f.keep && len(transfer) == 0 && sound && length <= 0
	case hasToken(transfer, "chunked") && h.major == 1 && h.minor > 0:
		f.chunked, f.codings = true, knownCodings(transfer)
		f.keep = f.keep && len(h.header["Content-Length"]) == 0
	case !sound:
		f.keep = false
	default:
		f.length, f.codings = length, knownCodings(transfer)
		f.keep = f.keep && length >= 0 && len(transfer) == 0
	}
	return f, nil
}

// persistent reports whether the server leaves the connection open (RFC 9112, section 9.3).
func (h *head) persistent() bool {
	connection := h.header["Connection"]
	switch {
	case hasToken(connection, "close"):
		return false
	case h.major == 1 && h.minor >= 1:
		return true
	}
	return h.major == 1 && hasToken(connection, "keep-alive")
}

// hasToken looks for a token in the lists that values are.
func hasToken(values []string, token string) bool {
	for _, list := range values {
		for one := range strings.SplitSeq(list, ",") {
			if strings.EqualFold(strings.Trim(one, " \t"), token) {
				return true
			}
		}
	}
	return false
}

// contentLength returns the length that all of values agree on, -1 for none. It is not sound when one of them is no number:
// then none is of use. A number too large for any body is the largest.
func contentLength(values []string) (length int64, sound bool, err error) {
	length = -1
	for _, list := range values {
		for one := range strings.SplitSeq(list, ",") {
			n, ok := parseLength(strings.Trim(one, " \t"))
			switch {
			case !ok:
				return -1, false, nil
			case length >= 0 && n != length:
				return 0, false, fmt.Errorf("two values of Content-Length: %d and %d", length, n)
			}
			length = n
		}
	}
	return length, true, nil
}

func parseLength(s string) (int64, bool) {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, false
		}
	}
	if s == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		n = math.MaxInt64
	}
	return n, true
}

// knownCodings returns the transfer codings beside chunks. One that is not known is passed over, as browsers do.
func knownCodings(values []string) []string {
	return slices.DeleteFunc(contentCodings(values), func(coding string) bool { return !known(coding) })
}
