package fetch

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"crawl/canon"
)

// Proxy is what stands between us and a host. The zero Proxy is none.
type Proxy struct {
	// URL is SCHEME://HOST:PORT. http and https speak HTTP to the proxy, over TLS with https; socks5 has names looked up by
	// us, socks5h by the proxy (RFC 1928). The usual ports are 80, 443 and 1080.
	URL string

	// User and Password are shown to the proxy. They are not stored with a crawl.
	User     string `json:"-"`
	Password string `json:"-"`
}

// ProxyRule sends what is meant for some hosts by a proxy, or by none. Of several that match a URL the last one decides.
type ProxyRule struct {
	Pattern string // as HostRule's
	Proxy   Proxy
}

func (r ProxyRule) validate() error {
	if _, err := parseHostPattern(r.Pattern); err != nil {
		return fmt.Errorf("proxy: pattern: %w", err)
	}
	if _, err := parseProxy(r.Proxy); err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	return nil
}

// ProxyError is the cause of an *Error when a proxy could not be had, or would not have us. It says nothing of the host.
type ProxyError struct {
	Proxy string // its URL
	Err   error
}

func (e *ProxyError) Error() string { return fmt.Sprintf("proxy %s: %v", e.Proxy, e.Err) }

func (e *ProxyError) Unwrap() error { return e.Err }

// ErrProxyAuth is the cause of a *ProxyError when the proxy asks for another user and password.
var ErrProxyAuth = errors.New("it asks for a user and password, or for others")

// ErrProxyDenied is the cause of an *Error when a proxy will not go to the host.
var ErrProxyDenied = errors.New("will not go there")

// proxy is a Proxy, read.
type proxy struct {
	scheme, host string
	port         uint16
	name         string // its URL, as records have it

	user, password string
	authorization  string // the value of the field; empty for none
}

// parseProxy returns nil for the zero Proxy.
func parseProxy(p Proxy) (*proxy, error) {
	if p == (Proxy{}) {
		return nil, nil
	}
	u, err := url.Parse(p.URL)
	if err != nil || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, errors.New("want http://HOST:PORT, https://, socks5:// or socks5h://, and user and password apart")
	}
	usual, known := map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	if !known {
		return nil, fmt.Errorf("%s is no kind of proxy: want http, https, socks5 or socks5h", u.Scheme)
	}
	port := u.Port()
	if port == "" {
		port = usual
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return nil, fmt.Errorf("%q is no port", port)
	}
	out := &proxy{scheme: u.Scheme, host: u.Hostname(), port: uint16(n), user: p.User, password: p.Password}
	out.name = u.Scheme + "://" + bracketed(out.host) + ":" + port
	return out, out.checkUser()
}

// checkUser refuses what could not be shown to the proxy.
func (p *proxy) checkUser() error {
	switch {
	case p.user == "" && p.password == "":
		return nil
	case p.isSOCKS() && (p.user == "" || len(p.user) > 255 || len(p.password) > 255): // RFC 1929, section 2
		return errors.New("want a user of 1 to 255 bytes, and a password of at most 255")
	case p.isSOCKS():
		return nil
	case strings.Contains(p.user, ":") || !httpguts.ValidHeaderFieldValue(p.user+p.password):
		return errors.New("user or password cannot be sent")
	}
	p.authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(p.user+":"+p.password))
	return nil
}

// late says how long was waited where err is a deadline that passed, and which proxy that was at.
func (p *proxy) late(err error, after time.Duration) error {
	const missing = "no connection"
	if itself, ok := errors.AsType[*ProxyError](err); ok {
		return &ProxyError{itself.Proxy, overdue(itself.Err, missing, after)}
	}
	if p == nil || !isTimeout(err) {
		return overdue(err, missing, after)
	}
	return p.about(timeoutError{missing, after})
}

// url is how records call it; empty for none.
func (p *proxy) url() string {
	if p == nil {
		return ""
	}
	return p.name
}

func (p *proxy) isSOCKS() bool { return p.scheme == "socks5" || p.scheme == "socks5h" }

// findsNames reports whether the proxy, and not we, looks the host up.
func (p *proxy) findsNames() bool { return p != nil && p.scheme != "socks5" }

// proxies say which URL goes by which proxy. They are not written after newProxies.
type proxies []struct {
	pattern hostPattern
	proxy   *proxy // nil: none
}

func newProxies(rules []ProxyRule) (ps proxies) {
	for _, r := range rules {
		pattern, _ := parseHostPattern(r.Pattern) // Config.Validate has read both
		p, _ := parseProxy(r.Proxy)
		ps = append(ps, struct {
			pattern hostPattern
			proxy   *proxy
		}{pattern, p})
	}
	return ps
}

// of returns the proxy for u, nil for none.
func (ps proxies) of(u canon.URL) *proxy {
	for _, p := range slices.Backward(ps) {
		if p.pattern.matches(u) {
			return p.proxy
		}
	}
	return nil
}

// checkUnseen refuses a host that a proxy looks up where the URL itself names a special address. What the proxy finds for
// a name cannot be checked from here.
func (c *Client) checkUnseen(u canon.URL) error {
	host, port, named := c.target(u)
	if named {
		return nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return err
	}
	addr, err := netip.ParseAddr(host)
	switch {
	case err == nil:
	case isLocalhost(host):
		addr = netip.IPv6Loopback()
		if c.policy.check(host, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(n))) == nil {
			return nil
		}
	default:
		return nil
	}
	return c.policy.check(u.Hostname(), netip.AddrPortFrom(addr.Unmap(), uint16(n)))
}
