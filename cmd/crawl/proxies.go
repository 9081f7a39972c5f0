package main

import (
	"os"
	"slices"
	"strings"

	"crawl/fetch"
	"crawl/internal/config"
)

// proxyRules returns which hosts are reached by which proxy; nil where none is.
func proxyRules(s config.Settings) (rules []fetch.ProxyRule) {
	if p, some := s.Proxy.Get(); some {
		rules = append(rules, fetch.ProxyRule{Pattern: "*", Proxy: proxyOf(p)})
	}
	for _, r := range s.Hosts {
		if r.Proxy == nil {
			continue
		}
		rule := fetch.ProxyRule{Pattern: string(r.Pattern)}
		if p, some := r.Proxy.Get(); some {
			rule.Proxy = proxyOf(p)
		}
		rules = append(rules, rule)
	}
	return rules
}

func proxyOf(p config.Proxy) fetch.Proxy {
	return fetch.Proxy{URL: p.URL(), User: p.User(), Password: p.Password()}
}

// proxyVariables are what other programs take a proxy from.
var proxyVariables = []string{"http_proxy", "https_proxy", "all_proxy"}

// sayProxies warns of what a user may not expect of proxies: that what one finds is not checked, and that no variable
// names one.
func (a *app) sayProxies(s config.Settings) {
	all := []config.Optional[config.Proxy]{s.Proxy}
	for _, r := range s.Hosts {
		if r.Proxy != nil {
			all = append(all, *r.Proxy)
		}
	}
	var unchecked []string
	named := false
	for _, o := range all {
		p, some := o.Get()
		named = named || some
		if some && p.FindsNames() && !slices.Contains(unchecked, p.URL()) {
			unchecked = append(unchecked, p.URL())
		}
	}
	if len(unchecked) > 0 {
		a.log.Warn("hosts are looked up by the proxy: private addresses that it finds are not refused", "proxy", strings.Join(unchecked, " "))
	}
	if named {
		return
	}
	for _, name := range proxyVariables {
		for _, name := range []string{name, strings.ToUpper(name)} {
			if os.Getenv(name) != "" {
				a.log.Warn("the variable is not followed, and no proxy is used", "variable", name, "fix", "--proxy URL")
				return
			}
		}
	}
}
