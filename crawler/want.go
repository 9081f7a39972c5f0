package crawler

import (
	"math"
	"net/http"

	"crawl/internal/parse"
)

// want says how much of a body to read, given its head: all that the client's own cap allows, unless Config.MaxOther sets
// another for what can hold no links.
func (c *Crawler) want(_ int, h http.Header) int64 {
	if c.cfg.MaxOther == nil || parse.MayHoldLinks(parse.ContentType(h)) {
		return math.MaxInt64
	}
	return int64(min(*c.cfg.MaxOther, math.MaxInt64))
}
