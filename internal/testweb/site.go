package testweb

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strconv"
	"strings"
)

// Site is a web: pure data and functions of its Config. It may be used from any number of goroutines.
type Site struct {
	cfg    Config // not written after New, as are all below
	names  []string
	filler filler
	pixel  []byte // a PNG
}

const (
	hostPrefix  = "www"
	hostSuffix  = ".test"
	outsideHost = "outside.test"
	hostFanout  = 4 // hosts whose roots the root of a host introduces
)

// New makes the web that cfg describes.
func New(cfg Config) (*Site, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("testweb: %w", err)
	}
	s := &Site{cfg: cfg.withDefaults()}
	s.names = make([]string, s.cfg.Hosts)
	for h := range s.names {
		s.names[h] = hostName(h)
	}
	s.filler = newFiller(s.dice(place{}, forFiller))
	var pixel bytes.Buffer
	if err := png.Encode(&pixel, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		return nil, fmt.Errorf("testweb: %w", err)
	}
	s.pixel = pixel.Bytes()
	return s, nil
}

// Config returns the site's Config with its defaults filled in.
func (s *Site) Config() Config { return s.cfg }

// Hosts returns the host names in order.
func (s *Site) Hosts() []string { return slices.Clone(s.names) }

// Seeds returns the root URL of each host, in order. The first alone reaches every URL of Expected for a crawler whose
// scope is all hosts; a crawler that stays on some of the hosts reaches from their roots what Expected says of them.
func (s *Site) Seeds() []string {
	seeds := make([]string, s.cfg.Hosts)
	for h := range seeds {
		seeds[h] = s.origin(h) + "/"
	}
	return seeds
}

func (s *Site) scheme() string {
	if s.cfg.HTTPS {
		return "https"
	}
	return "http"
}

func (s *Site) origin(host int) string { return s.scheme() + "://" + s.names[host] }

// url returns the URL of a slot as pages, redirects and sitemaps give it, for a browser to request.
func (s *Site) url(p place) string { return s.origin(p.host) + string(s.appendTarget(nil, p)) }

// key returns the URL of a slot in normal form.
func (s *Site) key(p place) string {
	return s.origin(p.host) + string(appendNormal(nil, s.appendTarget(nil, p)))
}

func hostName(h int) string { return fmt.Sprintf("%s%02d%s", hostPrefix, h, hostSuffix) }

// hostIndex finds the host that a Host field or an authority names: in any case, with any port, with a final dot.
func (s *Site) hostIndex(authority string) (int, bool) {
	digits, ok := strings.CutPrefix(hostOnly(authority), hostPrefix)
	if !ok {
		return 0, false
	}
	digits, ok = strings.CutSuffix(digits, hostSuffix)
	if !ok {
		return 0, false
	}
	h, err := strconv.Atoi(digits)
	if err != nil || h < 0 || h >= len(s.names) || s.names[h] != hostPrefix+digits+hostSuffix {
		return 0, false
	}
	return h, true
}

func hostOnly(authority string) string {
	if i := strings.IndexByte(authority, ':'); i >= 0 {
		authority = authority[:i]
	}
	return strings.ToLower(strings.TrimSuffix(authority, "."))
}
