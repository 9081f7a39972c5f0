package fetch

import (
	"errors"
	"fmt"
	"net/http"
)

// ErrUnwanted is in Result.BodyErr where Request.Want kept a body from being read to its end.
var ErrUnwanted = errors.New("no more of the body is wanted")

// wanted is how much of a body is read.
type wanted struct {
	limit   int64
	nothing error // why nothing is read
	rest    error // why no more is, where there is more; nil: the client's own cap
}

// bodyLimit is how many bytes of the body are kept, as sent and as decoded, of what r asks for.
func (c *Client) bodyLimit(r Request) int64 {
	if r.MaxBodyBytes > 0 {
		return min(r.MaxBodyBytes, MaxRobotsBytes)
	}
	return c.cfg.MaxBodyBytes
}

// wantedOf asks r how much it wants of a body of that length, which is -1 where it is not known.
func (c *Client) wantedOf(r Request, status int, h http.Header, length int64) wanted {
	w := wanted{limit: c.bodyLimit(r)}
	if r.Want == nil {
		return w
	}
	most := max(r.Want(status, h), 0)
	if most >= w.limit {
		return w
	}
	w.limit, w.rest = most, fmt.Errorf("%w than %d bytes", ErrUnwanted, most)
	switch {
	case length > most:
		w.nothing = fmt.Errorf("%w than %d bytes, and it has %d", ErrUnwanted, most, length)
	case most == 0 && length != 0:
		w.nothing = ErrUnwanted
	}
	return w
}

// readWanted reads as much of the payload as is wanted. ended: its last byte was read.
func (r *Result) readWanted(g growth, src payloadSource, w wanted) (ended bool) {
	if w.nothing != nil {
		r.Truncated, r.BodyErr = TruncatedLength, w.nothing
		return false
	}
	ended = r.readBody(g, src)
	if r.Truncated == TruncatedLength {
		r.BodyErr = w.rest
	}
	return ended
}
