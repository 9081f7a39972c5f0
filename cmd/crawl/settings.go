package main

import (
	"math"
	"net/netip"
	"strings"
	"time"

	"crawl/canon"
	"crawl/crawler"
	"crawl/fetch"
	"crawl/fetch/dns"
	"crawl/frontier"
	"crawl/internal/config"
	"crawl/seen"
	"crawl/store"
)

// crawlConfig turns the settings into what the crawler takes.
func crawlConfig(s config.Settings) (crawler.Config, error) {
	var rendering strings.Builder
	if err := s.Render(&rendering); err != nil {
		return crawler.Config{}, err
	}
	cfg := crawler.DefaultConfig()
	cfg.Rendering = rendering.String()
	cfg.Frontier = frontierConfig(s)
	cfg.Fetch = fetchConfig(s)
	cfg.Seen = seen.Config{
		FalsePositiveRate: float64(s.FP), ExpectedItems: uint64(s.Expect.Or(0)), MaxBytes: int64(s.SeenMemory),
	}
	cfg.Exact = s.Seen == config.SeenExact
	cfg.Store = store.Config{
		PagesBytes: int64(s.PagesSize), LogBytes: int64(s.LogSize), MinFreeBytes: int64(s.MinFree),
	}
	cfg.Scope = scopeOf(s)
	cfg.Deny = texts(s.Deny)
	cfg.AdmitAfter = crawler.AdmitAfter{Pages: int(s.AdmitAfter), Window: time.Duration(s.AdmitWindow), MaxBytes: int64(s.AdmitMemory)}
	cfg.Canon = policies(s.SamePage)
	cfg.Traps = trapsOf(s)
	cfg.MaxAlikeHosts = limitOf(s.MaxAlikeHosts.Get())
	cfg.MaxNearAlike = limitOf(s.MaxNearAlike.Get())
	cfg.MaxGrowing = limitOf(s.MaxGrowing.Get())
	cfg.MaxAlike = limitOf(s.MaxAlike.Get())
	cfg.Concurrency = int(s.Concurrency)
	cfg.Requisites = s.Requisites
	cfg.NoFollow = crawler.NoFollowRules{
		IgnorePages: s.Nofollow == config.NoFollowLinks || s.Nofollow == config.NoFollowIgnore,
		ObeyLinks:   s.Nofollow == config.NoFollowLinks || s.Nofollow == config.NoFollowAll,
	}
	cfg.CheckExternal = s.CheckExternal
	cfg.Sitemaps = s.Sitemaps
	cfg.Frontier.IgnoreRobots = s.Robots == config.RobotsIgnore
	cfg.Retries = int(s.Retries)
	cfg.RetryDelay = time.Duration(s.RetryDelay)
	cfg.Retry = retryRules(s.Retry)
	cfg.Conditional = s.Conditional
	cfg.KeepRefused = int(s.KeepRefused)
	cfg.CheckpointInterval = time.Duration(s.CheckpointInterval)
	cfg.Grace = time.Duration(s.Grace)
	for _, e := range s.Extract {
		cfg.Extract = append(cfg.Extract, crawler.Extract(e))
	}
	setLimits(&cfg, s)
	if err := cfg.Validate(); err != nil {
		return crawler.Config{}, &usageError{err}
	}
	return cfg, nil
}

func scopeOf(s config.Settings) crawler.Scope {
	out := crawler.Scope{Mode: string(s.Scope), Include: texts(s.Include), Exclude: texts(s.Exclude)}
	for _, r := range s.ScopeRules {
		rule := crawler.ScopeRule{
			Name: r.Name, Admit: r.Admit, Hosts: texts(r.Hosts), Domains: texts(r.Domains), Prefixes: texts(r.Prefixes), Regexps: texts(r.Regexps),
			Schemes: texts(r.Schemes), Classes: texts(r.Classes), ContentTypes: texts(r.ContentTypes),
		}
		if r.Seeds != nil {
			rule.Seeds = string(*r.Seeds)
		}
		if r.Depth != nil {
			rule.MinDepth, rule.MaxDepth = r.Depth.Min, r.Depth.Max
		}
		for _, port := range r.Ports {
			rule.Ports = append(rule.Ports, int(port))
		}
		out.Rules = append(out.Rules, rule)
	}
	return out
}

// retryRules returns nil where nothing is said by class.
func retryRules(rules []config.RetryRule) map[crawler.RetryClass]crawler.RetryRule {
	if len(rules) == 0 {
		return nil
	}
	out := make(map[crawler.RetryClass]crawler.RetryRule, len(rules))
	for _, r := range rules {
		var rule crawler.RetryRule
		if r.Retries != nil {
			rule.Retries = new(int(*r.Retries))
		}
		if r.Delay != nil {
			rule.Delay = new(time.Duration(*r.Delay))
		}
		out[crawler.RetryClass(r.Class)] = rule
	}
	return out
}

func policies(pages []config.SamePage) (out []canon.Policy) {
	for _, p := range pages {
		out = append(out, canon.Policy{
			Hosts: string(p.Hosts()), DropParameters: texts(p.DropParameters), DropSessionIDs: p.DropSessionIDs, SortParameters: p.SortParameters,
			IndexFiles: texts(p.IndexFiles), MergeSlash: p.Slash, MergeWWW: p.WWW, MergeSchemes: p.Schemes,
		})
	}
	return out
}

func trapsOf(s config.Settings) crawler.Traps {
	return crawler.Traps{
		MaxURLBytes: limitOf(s.MaxURL.Get()), MaxPathSegments: limitOf(s.MaxPathSegments.Get()), MaxRepeats: limitOf(s.MaxRepeats.Get()),
		MaxParameters: limitOf(s.MaxParameters.Get()), MaxYearsAhead: limitOf(s.MaxYearsAhead.Get()),
	}
}

// limitOf returns nil where there is no limit.
func limitOf[T ~int64](most T, limited bool) *int {
	if !limited {
		return nil
	}
	return new(int(most))
}

func setLimits(cfg *crawler.Config, s config.Settings) {
	if n, limited := s.MaxPages.Get(); limited {
		pages := uint64(n)
		cfg.MaxPages = &pages
	}
	if n, limited := s.MaxBytes.Get(); limited {
		bodies := uint64(n)
		cfg.MaxBytes = &bodies
	}
	if n, limited := s.MaxDepth.Get(); limited {
		depth := int(n)
		cfg.MaxDepth = &depth
	}
	if n, limited := s.MaxBodyOther.Get(); limited {
		other := uint64(n)
		cfg.MaxOther = &other
	}
	if d, limited := s.MaxTime.Get(); limited {
		limit := time.Duration(d)
		cfg.MaxTime = &limit
	}
}

func frontierConfig(s config.Settings) frontier.Config {
	cfg := frontier.Default()
	cfg.HostDelay = orNone(time.Duration(s.HostDelay))
	cfg.HostConcurrency = int(s.HostConcurrency)
	cfg.DelayFactor = float64(s.DelayFactor)
	if cfg.DelayFactor == 0 {
		cfg.DelayFactor = frontier.None
	}
	cfg.MaxCrawlDelay = orNone(time.Duration(s.CrawlDelayMax))
	cfg.BackoffBase = orNone(min(cfg.BackoffBase, time.Duration(s.RetryDelay)))
	cfg.MaxRetryAfter = orNone(time.Duration(s.RetryAfterMax))
	cfg.MaxRate = 0
	if f, limited := s.MaxRate.Get(); limited {
		cfg.MaxRate = f.PerSecond()
	}
	cfg.GiveUpAfter = frontier.None
	if n, limited := s.GiveUpAfter.Get(); limited {
		cfg.GiveUpAfter = int(n)
	}
	cfg.PerIP = s.PerIP
	cfg.MaxHosts, cfg.MaxTasks = int(s.MaxHosts), int(s.MaxTasks)
	cfg.MaxRulesBytes = int64(s.RobotsMemory)
	cfg.MaxHostPages, cfg.MaxHostBytes = uint64(s.MaxPagesPerHost.Or(0)), uint64(s.MaxBytesPerHost.Or(0))
	for _, rule := range s.Hosts {
		cfg.Overrides = append(cfg.Overrides, override(rule))
	}
	return cfg
}

func override(r config.HostRule) frontier.Override {
	o := frontier.Override{Pattern: string(r.Pattern)}
	if r.Delay != nil {
		o.HostDelay = new(time.Duration(*r.Delay))
	}
	if r.Concurrency != nil {
		o.HostConcurrency = new(int(*r.Concurrency))
	}
	if r.Robots != nil {
		o.IgnoreRobots = new(*r.Robots == config.RobotsIgnore)
	}
	if r.MaxPages != nil {
		o.MaxPages = new(uint64(math.MaxUint64))
		if n, limited := r.MaxPages.Get(); limited {
			*o.MaxPages = uint64(n)
		}
	}
	if r.MaxBytes != nil {
		o.MaxBytes = new(uint64(math.MaxUint64))
		if n, limited := r.MaxBytes.Get(); limited {
			*o.MaxBytes = uint64(n)
		}
	}
	return o
}

// orNone: to the frontier a zero means its default.
func orNone(d time.Duration) time.Duration {
	if d == 0 {
		return frontier.None
	}
	return d
}

func fetchConfig(s config.Settings) fetch.Config {
	cfg := fetch.Config{
		UserAgent: s.UserAgent.Header(buildVersion(), s.Contact), Contact: string(s.Contact), Timeout: time.Duration(s.Timeout),
		DNSTimeout: time.Duration(s.DNSTimeout), ConnectTimeout: time.Duration(s.ConnectTimeout), TLSTimeout: time.Duration(s.TLSTimeout),
		FirstByteTimeout: time.Duration(s.FirstByteTimeout), MinRate: int64(s.MinRate.Or(-1)),
		MaxHeadBytes: int(s.MaxHead), MaxHeadLines: int(s.MaxHeadLines), MaxDecodeRatio: int64(s.MaxDecodeRatio),
		MaxBodyBytes: int64(s.MaxBody), BodyMemoryBytes: int64(s.BodyMemory), InsecureTLS: s.Insecure, DisableHTTP2: !s.HTTP2, AllowPrivate: texts(s.AllowPrivate),
		MaxIdleConns: idleConns(int(s.Concurrency)), MaxIdlePerHost: max(2, mostPerHost(s)),
	}
	cfg.Proxies = proxyRules(s)
	cfg.DNSMinTTL = time.Duration(s.DNSMinTTL)
	if cfg.DNSMinTTL == 0 {
		cfg.DNSMinTTL = dns.None
	}
	for _, r := range s.Resolvers {
		cfg.Resolvers = append(cfg.Resolvers, netip.AddrPort(r))
	}
	for _, c := range s.ConnectTo {
		cfg.ConnectTo = append(cfg.ConnectTo, fetch.ConnectTo(c))
	}
	cfg.Fields, cfg.Auth, cfg.Cookies = fields(s.Header), auth(s.Auth), s.Cookies == config.CookiesOn
	for _, rule := range s.Hosts {
		cfg.Hosts = append(cfg.Hosts, hostRule(rule))
	}
	return cfg
}

// hostRule takes what of a rule concerns requests; the frontier has the rest.
func hostRule(r config.HostRule) fetch.HostRule {
	rule := fetch.HostRule{Pattern: string(r.Pattern), Fields: fields(r.Headers)}
	if r.Auth != nil {
		if rule.Auth = auth(*r.Auth); rule.Auth == nil {
			rule.Auth = new(fetch.Auth)
		}
	}
	if r.Cookies != nil {
		rule.Cookies = new(*r.Cookies == config.CookiesOn)
	}
	return rule
}

func fields(headers []config.Header) (out []fetch.Field) {
	for _, h := range headers {
		out = append(out, fetch.Field{Name: h.Name(), Value: h.Value(), Secret: h.Secret()})
	}
	return out
}

// auth returns nil where there is none.
func auth(o config.Optional[config.Auth]) *fetch.Auth {
	a, some := o.Get()
	if !some {
		return nil
	}
	return &fetch.Auth{User: a.User(), Password: a.Password()}
}

// mostPerHost returns how many requests may be in flight to the host that may have the most of them.
func mostPerHost(s config.Settings) int {
	most := s.HostConcurrency
	for _, rule := range s.Hosts {
		if rule.Concurrency != nil {
			most = max(most, *rule.Concurrency)
		}
	}
	return int(most)
}

// otherFiles is room for logs, outputs and the state among the files that the system lets us open.
const otherFiles = 64

// idleConns is how many connections are kept between requests: half of the files that the system lets us open beside
// those in use, so that a crawl of many hosts need not connect anew for each page.
func idleConns(concurrency int) int {
	const least, most = 2, 16384
	return min(max((openFiles()-concurrency-otherFiles)/2, least), most)
}

// fitFiles lowers a concurrency that would leave the state no file to be written to: each request takes one.
func (s *session) fitFiles(cfg *crawler.Config) {
	most := max(1, openFiles()-otherFiles)
	if cfg.Concurrency <= most {
		return
	}
	s.log.Warn("concurrency is lowered: the system lets this process open too few files", "concurrency", most, "fix", "ulimit -n")
	cfg.Concurrency = most
}

func texts[T ~string](list []T) []string {
	var out []string
	for _, item := range list {
		out = append(out, string(item))
	}
	return out
}
