package fetch

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"crawl/canon"
)

// Field is a header field that requests carry.
type Field struct {
	Name, Value string
	Secret      bool // a credential
}

// Auth is a user and password (RFC 7617). The zero Auth is none.
type Auth struct{ User, Password string }

// HostRule says what requests to some hosts carry beside what Config says of all, or instead of it. Of several that match
// a URL, the last one that says something decides it, field by field. What a rule names goes to its hosts whether
// Config.Trusted knows them or not.
type HostRule struct {
	// Pattern is a host ("a.example"), that and all names below it ("*.a.example") or every host ("*"); with a port
	// ("a.example:443") it means that one alone, whatever the scheme. An IPv6 address stands in brackets.
	Pattern string

	Fields  []Field
	Auth    *Auth // nil: nothing is said; the zero Auth takes Config.Auth back
	Cookies *bool // nil: nothing is said
}

func (r HostRule) validate() error {
	if _, err := parseHostPattern(r.Pattern); err != nil {
		return fmt.Errorf("hosts: pattern: %w", err)
	}
	if err := validFields(r.Fields); err != nil {
		return fmt.Errorf("hosts: %s: headers: %w", r.Pattern, err)
	}
	if r.Auth != nil {
		if err := r.Auth.validate(); err != nil {
			return fmt.Errorf("hosts: %s: auth: %w", r.Pattern, err)
		}
	}
	return nil
}

// TrustMatters reports whether there is anything that Trusted decides.
func (c Config) TrustMatters() bool {
	return c.Auth != nil || len(c.LoadedCookies) > 0 || slices.ContainsFunc(c.Fields, func(f Field) bool { return f.Secret })
}

func (a Auth) validate() error {
	if strings.Contains(a.User, ":") {
		return errors.New("the user's name has a colon")
	}
	return nil
}

// field returns what shows the credentials to a server.
func (a Auth) field() field {
	return field{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(a.User+":"+a.Password))}
}

// validFields refuses what checkFields refuses. A secret's value is not shown.
func validFields(fields []Field) error {
	var errs []error
	for _, f := range fields {
		value := f.Value
		if f.Secret && !httpguts.ValidHeaderFieldValue(value) {
			errs = append(errs, fmt.Errorf("header field %q: its value cannot be sent", f.Name))
			continue
		}
		errs = append(errs, checkFields(http.Header{f.Name: {value}}))
	}
	return errors.Join(errs...)
}

// credentials say which fields go where. They are not written after newCredentials.
type credentials struct {
	all     []field // to every host
	seeds   []field // to what trusted says, over all
	trusted func(canon.URL) bool
	rules   []hostFields
	secret  []string // canonical names of fields whose values are not kept
	cookies bool     // are kept, and sent back
	jar     *jar     // nil: there are none, and will be none
}

// hostFields is a HostRule, read.
type hostFields struct {
	pattern hostPattern
	fields  []field
	noAuth  bool // takes back the field of Config.Auth
	cookies *bool
}

func newCredentials(cfg Config) *credentials {
	c := &credentials{all: clientFields(cfg), trusted: cfg.Trusted, secret: namesOfSecrets(cfg), cookies: cfg.Cookies}
	if cfg.cookiesMatter() {
		c.jar = newJar(cfg.LoadedCookies)
	}
	var plain []Field
	for _, f := range cfg.Fields {
		if f.Secret {
			c.seeds = append(c.seeds, f.canonical())
		} else {
			plain = append(plain, f)
		}
	}
	if cfg.Auth != nil && *cfg.Auth != (Auth{}) {
		c.seeds = over(c.seeds, []field{cfg.Auth.field()})
	}
	c.all = over(c.all, canonicalFields(plain))
	for _, r := range cfg.Hosts {
		pattern, _ := parseHostPattern(r.Pattern) // Config.Validate has read it
		h := hostFields{pattern: pattern, fields: canonicalFields(r.Fields), cookies: r.Cookies}
		switch {
		case r.Auth == nil:
		case *r.Auth == (Auth{}):
			h.noAuth = true
		default:
			h.fields = over(h.fields, []field{r.Auth.field()})
		}
		c.rules = append(c.rules, h)
	}
	return c
}

// cookiesMatter reports whether any host may be sent a cookie of the jar.
func (c Config) cookiesMatter() bool {
	return c.Cookies || len(c.LoadedCookies) > 0 ||
		slices.ContainsFunc(c.Hosts, func(r HostRule) bool { return r.Cookies != nil && *r.Cookies })
}

// of returns the fields of a request for u. Nobody may write to them.
func (c *credentials) of(u canon.URL) []field {
	fields := c.fixed(u)
	if c.jar == nil {
		return fields
	}
	set, loaded := c.cookiesFor(u)
	value := c.jar.field(u, time.Now(), set, loaded)
	if value == "" {
		return fields
	}
	if i := slices.IndexFunc(fields, func(f field) bool { return f.name == "Cookie" }); i >= 0 {
		value = fields[i].value + "; " + value
	}
	return over(fields, []field{{"Cookie", value}})
}

// cookiesFor reports whether cookies that u's host sets are kept and sent back, and whether loaded ones are sent.
func (c *credentials) cookiesFor(u canon.URL) (set, loaded bool) {
	set, loaded = c.cookies, c.trusts(u)
	for _, r := range c.rules {
		if r.cookies != nil && r.pattern.matches(u) {
			set, loaded = *r.cookies, *r.cookies
		}
	}
	return set, loaded
}

// receive keeps the cookies that an answer sets, and reports whether one of them is to be sent back.
func (c *credentials) receive(u canon.URL, h http.Header) bool {
	if c.jar == nil || len(h["Set-Cookie"]) == 0 {
		return false
	}
	on, _ := c.cookiesFor(u)
	return on && c.jar.receive(u, h["Set-Cookie"], time.Now())
}

func (c *credentials) trusts(u canon.URL) bool { return c.trusted != nil && c.trusted(u) }

// fixed returns the fields that do not depend on what came before.
func (c *credentials) fixed(u canon.URL) []field {
	fields := c.all
	if len(c.seeds) > 0 && c.trusts(u) {
		fields = over(fields, c.seeds)
	}
	for _, r := range c.rules {
		if !r.pattern.matches(u) {
			continue
		}
		if r.noAuth {
			fields = slices.DeleteFunc(slices.Clone(fields), func(f field) bool { return f.name == "Authorization" })
		}
		if len(r.fields) > 0 {
			fields = over(fields, r.fields)
		}
	}
	return fields
}

// over returns fields with others put in the place of those of the same name, or behind them. It writes to neither.
func over(fields, others []field) []field {
	kept := make([]field, 0, len(fields)+len(others))
	for _, f := range fields {
		if !slices.ContainsFunc(others, func(o field) bool { return o.name == f.name }) {
			kept = append(kept, f)
		}
	}
	return append(kept, others...)
}

func (f Field) canonical() field { return field{http.CanonicalHeaderKey(f.Name), f.Value} }

func canonicalFields(fields []Field) (all []field) {
	for _, f := range fields {
		all = append(all, f.canonical())
	}
	return all
}
