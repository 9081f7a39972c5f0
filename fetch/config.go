package fetch

import (
	"errors"
	"fmt"
	"net/mail"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"crawl/canon"
	"crawl/fetch/dns"
)

// Config says how a client behaves. The zero Config is polite and safe.
type Config struct {
	// UserAgent is the whole User-Agent field. Default: "crawl", with "(+Contact)" if there is one.
	UserAgent string

	// Contact tells a webmaster whom to turn to: a mail address, which is sent as the From field, or a page.
	Contact string

	// Timeout is for a whole Fetch, from the call to the last byte. What a body waits for memory does not count, up to as
	// much time again. Default: 30 s.
	Timeout time.Duration

	// DNSTimeout is for one name look-up. Default: 10 s.
	DNSTimeout time.Duration

	// DNSMinTTL is how long what a name server said holds at least. Default: 5 min; dns.None: as long as it says.
	DNSMinTTL time.Duration

	// Resolvers are name servers to ask in place of the system's, in this order.
	Resolvers []netip.AddrPort

	// ConnectTimeout is for connecting, to whichever address of a host answers. Default: 10 s.
	ConnectTimeout time.Duration

	// TLSTimeout is for the TLS handshake. Default: 10 s.
	TLSTimeout time.Duration

	// FirstByteTimeout is for the whole head of an answer, from when the request is sent. Default: 20 s.
	FirstByteTimeout time.Duration

	// MinRate is how many bytes a second a body must bring, over windows of 15 s and more; what comes slower is cut there, as
	// if its time were over. Negative: none. Default: 100.
	MinRate int64

	// IdleTimeout is how long a connection is kept between fetches. Default: 30 s.
	IdleTimeout time.Duration

	// MaxHeadBytes caps the head of an answer, its interim responses included. Default: 256 KiB.
	MaxHeadBytes int

	// MaxHeadLines caps the fields of an answer's head, its interim responses included. Default: 2,000.
	MaxHeadLines int

	// MaxBodyBytes caps the body as sent, and the body as decoded. Default: 64 MiB.
	MaxBodyBytes int64

	// BodyMemoryBytes caps the memory of all bodies in flight together, from the first byte to Result.Release: as sent, as
	// decoded, and what decoders need. Beside it each fetch has 128 KiB for its first buffers. At the cap large bodies wait
	// for each other; the oldest never does. Default: 512 MiB, or the least that MaxBodyBytes asks for.
	BodyMemoryBytes int64

	// MaxDecodeRatio caps how many times as long as it was sent a body may become by decoding, past its first MiB. Default:
	// 200.
	MaxDecodeRatio int64

	// Capture keeps the bytes that were sent and came, for Result.Wire and Result.WireRequest. They count against
	// BodyMemoryBytes.
	Capture bool

	// MaxIdleConns caps the connections kept between fetches. Default: 256.
	MaxIdleConns int

	// MaxIdlePerHost caps those to one address of a site. Default: 2.
	MaxIdlePerHost int

	// DisableHTTP2 has HTTP/1.1 spoken with every server.
	DisableHTTP2 bool

	// InsecureTLS accepts any certificate.
	InsecureTLS bool

	// ConnectTo sends connections elsewhere. The first rule that matches a URL holds.
	ConnectTo []ConnectTo

	// Proxies say which hosts are reached by which proxy. No variable of the environment does. A host behind an HTTP proxy,
	// or socks5h, is looked up by the proxy, so that its addresses cannot be checked; the proxy's own address may be a
	// private one.
	Proxies []ProxyRule

	// Fields are further fields to send, over the client's own of the same name: plain ones to every host, secret ones
	// where Trusted allows. Fields that frame the message are refused. Nothing that may be a secret is stored with a crawl.
	Fields []Field `json:"-"`

	// Auth is shown where Trusted allows. nil: none.
	Auth *Auth `json:"-"`

	// Trusted reports whether credentials may go to a URL's origin. nil: they go nowhere but where Hosts says. It must not
	// wait, and is called by many goroutines.
	Trusted func(canon.URL) bool `json:"-"`

	// Cookies has the client keep what hosts set and send it back to them, in memory as long as it lives: of a site 50 cookies
	// and 32 KiB, of all sites 64 MiB.
	Cookies bool

	// LoadedCookies are sent where Trusted allows, and where a rule of Hosts has Cookies on.
	LoadedCookies []Cookie `json:"-"`

	// Hosts say what differs for some hosts.
	Hosts []HostRule `json:"-"`

	// AllowPrivate opens special addresses (private, loopback, link-local and the like), which are refused otherwise.
	// An entry is "all", a host name as it stands in the URL, an address, or a range as 10.0.0.0/8; names and addresses
	// may carry a port, as localhost:8080 or [::1]:8080. An address or a range is opened under whatever name it is met.
	AllowPrivate []string
}

// DefaultUserAgent is who we say we are when Config.UserAgent does not.
const DefaultUserAgent = "crawl"

// mostSessions is how many TLS sessions are kept to be resumed; each takes some kilobytes.
const mostSessions = 2048

const maxBodyBytesLimit = 1 << 40 // far from where sums of sizes overflow

// Validate reports every problem at once, each under its key in the configuration file.
func (c Config) Validate() error {
	var errs []error
	for _, d := range []struct {
		key   string
		value time.Duration
	}{
		{"timeout", c.Timeout}, {"dns_timeout", c.DNSTimeout}, {"connect_timeout", c.ConnectTimeout}, {"tls_timeout", c.TLSTimeout},
		{"first_byte_timeout", c.FirstByteTimeout}, {"idle_timeout", c.IdleTimeout},
	} {
		if d.value < 0 {
			errs = append(errs, fmt.Errorf("%s: want 0 for the default or more, got %v", d.key, d.value))
		}
	}
	for _, n := range []struct {
		key   string
		value int64
	}{
		{"max_head", int64(c.MaxHeadBytes)}, {"max_head_lines", int64(c.MaxHeadLines)}, {"max_body", c.MaxBodyBytes},
		{"max_decode_ratio", c.MaxDecodeRatio}, {"body_memory", c.BodyMemoryBytes}, {"max_idle_conns", int64(c.MaxIdleConns)}, {"max_idle_per_host", int64(c.MaxIdlePerHost)},
	} {
		if n.value < 0 || n.value > maxBodyBytesLimit {
			errs = append(errs, fmt.Errorf("%s: want 0 for the default or up to %d, got %d", n.key, int64(maxBodyBytesLimit), n.value))
		}
	}
	if c.DNSMinTTL < 0 && c.DNSMinTTL != dns.None {
		errs = append(errs, fmt.Errorf("dns_min_ttl: want 0 or more, got %v", c.DNSMinTTL))
	}
	for _, server := range c.Resolvers {
		if !server.IsValid() || server.Port() == 0 {
			errs = append(errs, fmt.Errorf("resolvers: want an address with a port, got %v", server))
		}
	}
	if c.MinRate > maxBodyBytesLimit {
		errs = append(errs, fmt.Errorf("min_rate: want at most %d, got %d", int64(maxBodyBytesLimit), c.MinRate))
	}
	if least := leastBudget(c.withDefaults().MaxBodyBytes, c.Capture); c.BodyMemoryBytes > 0 && c.BodyMemoryBytes < least {
		errs = append(errs, fmt.Errorf("body_memory: want 0 for the default or at least %d for such max_body, got %d", least, c.BodyMemoryBytes))
	}
	if !httpguts.ValidHeaderFieldValue(c.UserAgent) {
		errs = append(errs, fmt.Errorf("user_agent: %q is no field value", c.UserAgent))
	}
	if !httpguts.ValidHeaderFieldValue(c.Contact) {
		errs = append(errs, fmt.Errorf("contact: %q is no field value", c.Contact))
	}
	if err := validFields(c.Fields); err != nil {
		errs = append(errs, fmt.Errorf("header: %w", err))
	}
	if c.Auth != nil {
		if err := c.Auth.validate(); err != nil {
			errs = append(errs, fmt.Errorf("auth: %w", err))
		}
	}
	for _, rule := range c.Hosts {
		errs = append(errs, rule.validate())
	}
	for _, rule := range c.Proxies {
		errs = append(errs, rule.validate())
	}
	for _, rule := range c.ConnectTo {
		if err := rule.validate(); err != nil {
			errs = append(errs, fmt.Errorf("connect_to: %w", err))
		}
	}
	for _, entry := range c.AllowPrivate {
		if _, err := parseOpening(entry); err != nil {
			errs = append(errs, fmt.Errorf("allow_private: %w", err))
		}
	}
	return errors.Join(errs...)
}

func (c Config) withDefaults() Config {
	if c.UserAgent == "" {
		c.UserAgent = DefaultUserAgent
		if c.Contact != "" {
			c.UserAgent += " (+" + c.Contact + ")"
		}
	}
	setDefault(&c.Timeout, 30*time.Second)
	setDefault(&c.DNSTimeout, 10*time.Second)
	setDefault(&c.ConnectTimeout, 10*time.Second)
	setDefault(&c.TLSTimeout, 10*time.Second)
	setDefault(&c.FirstByteTimeout, 20*time.Second)
	setDefault(&c.MinRate, 100)
	setDefault(&c.IdleTimeout, 30*time.Second)
	setDefault(&c.MaxHeadBytes, 256<<10)
	setDefault(&c.MaxHeadLines, 2000)
	setDefault(&c.MaxBodyBytes, 64<<20)
	setDefault(&c.MaxDecodeRatio, maxRatio)
	setDefault(&c.BodyMemoryBytes, max(512<<20, leastBudget(c.MaxBodyBytes, c.Capture)))
	setDefault(&c.MaxIdleConns, 256)
	setDefault(&c.MaxIdlePerHost, 2)
	return c
}

func setDefault[T comparable](v *T, otherwise T) {
	var zero T
	if *v == zero {
		*v = otherwise
	}
}

// mailbox returns the address in Contact, if it is one.
func (c Config) mailbox() (string, bool) {
	a, err := mail.ParseAddress(strings.TrimPrefix(c.Contact, "mailto:"))
	if err != nil {
		return "", false
	}
	return a.Address, true
}
