package config

import (
	"slices"
	"strings"
)

// Proxy is what requests go by: http, https, socks5 or socks5h, where it is, and who we are to it. A password is named by
// a reference and not written: http://user:${VARIABLE}@host:port, or http://user:@FILE@host:port.
type Proxy struct {
	scheme, host, port string
	user               string // without a password
	auth               Auth
}

var proxySchemes = []string{"http", "https", "socks5", "socks5h"}

func (Proxy) parse(text string) (Proxy, error) {
	const want = "http://HOST:PORT, https://, socks5:// or socks5h://, with USER:${VARIABLE}@ or USER:@FILE@ before the host where the proxy asks for one"
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		scheme, rest = "http", text // as curl has it
	}
	place, who := rest, ""
	at := strings.LastIndexByte(rest, '@')
	if at >= 0 {
		who, place = rest[:at], rest[at+1:]
	}
	p := Proxy{scheme: strings.ToLower(scheme)}
	var ok bool
	p.host, p.port, ok = proxyPlace(strings.TrimSuffix(place, "/"))
	if !ok || !slices.Contains(proxySchemes, p.scheme) {
		return Proxy{}, badProxy(want, text, at >= 0)
	}
	switch {
	case at < 0:
	case who == "":
		return Proxy{}, badProxy(want, text, true)
	case !strings.ContainsAny(who, ":@") && !strings.Contains(who, "${"):
		if !printable(who) {
			return Proxy{}, badProxy(want, text, true)
		}
		p.user = who
	default:
		auth, err := Auth{}.parse(who)
		if err != nil {
			return Proxy{}, err
		}
		p.auth = auth
	}
	return p, nil
}

// badProxy does not show what may hold a password.
func badProxy(want, text string, secret bool) error {
	if secret {
		return &badValue{want: want, got: "another text", secret: true}
	}
	return bad(want, text)
}

// proxyPlace splits HOST:PORT. The port may be left out.
func proxyPlace(text string) (host, port string, ok bool) {
	name, port, hasPort := cutPort(text)
	if hasPort && (port == "" || !portNumber(port)) {
		return "", "", false
	}
	if strings.Contains(name, ":") && !strings.HasPrefix(name, "[") {
		return "", "", false
	}
	host, ok = hostName(name)
	return host, port, ok
}

// URL returns SCHEME://HOST:PORT, without user and password.
func (p Proxy) URL() string {
	url := p.scheme + "://" + bracket(p.host)
	if p.port != "" {
		url += ":" + p.port
	}
	return url
}

// FindsNames reports whether the proxy, and not we, looks hosts up.
func (p Proxy) FindsNames() bool { return p.scheme != "socks5" }

// User returns the user's name, empty for none.
func (p Proxy) User() string {
	if p.user != "" {
		return p.user
	}
	return p.auth.User()
}

// Password returns what the password's reference stands for.
func (p Proxy) Password() string { return p.auth.Password() }

func (p Proxy) String() string {
	who := p.user
	if p.auth != (Auth{}) {
		who = p.auth.String()
	}
	if who == "" {
		return p.URL()
	}
	scheme, place, _ := strings.Cut(p.URL(), "://")
	return scheme + "://" + who + "@" + place
}

// Type is what stands for a Proxy in a flag's help.
func (Proxy) Type() string { return "URL" }

func (p *Proxy) resolve(env []string) error {
	if p.auth == (Auth{}) {
		return nil
	}
	return p.auth.resolve(env)
}

func (p *Proxy) references() []reference { return p.auth.references() }
