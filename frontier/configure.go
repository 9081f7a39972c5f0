package frontier

// Configure changes how hosts are asked from now on; requests in flight and waits that have begun stay as they are. A
// host that has used up what it may have is given up, one that the Config before gave up and this one would not is
// revived. PerIP, Lookup and Resumed stay as New had them. With an error nothing has changed.
//
// It takes time in proportion to the hosts in memory, while nothing else can be asked of the frontier: it is for a change
// that a person makes now and then.
func (f *Frontier) Configure(cfg Config) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	cfg = cfg.resolved()
	policies, err := compileOverrides(cfg.policy(), cfg.Overrides)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	cfg.PerIP, cfg.Lookup, cfg.Resumed = f.cfg.PerIP, f.cfg.Lookup, f.cfg.Resumed
	f.cfg, f.overrides = cfg, policies
	now := f.now()
	f.total.limit(cfg.MaxRate)
	for _, h := range f.leaving { // they may come back before their state is collected
		f.reconsider(h, now)
	}
	for _, h := range f.hosts {
		f.reconsider(h, now)
		f.schedule(h, now)
	}
	if f.elsewhere.n > 0 { // hosts that are not in memory may be revived too
		f.elsewhere.unfound = true
		f.nudge()
	}
	f.dispatch(now)
	return nil
}

// reconsider judges h anew under the present Config. The caller schedules it.
func (f *Frontier) reconsider(h *host, now moment) {
	h.policy = f.overrides.of(h.name)
	for _, o := range h.origins {
		if o != nil {
			o.crawlDelay = f.crawlDelay(o.rules)
		}
	}
	h.noteCrawlDelay()
	f.keepDelay(h)
	switch {
	case h.givenUp == "" && h.overBudget():
		f.giveUp(h, BudgetUsed, now)
		f.mark(h)
	case h.givenUp != "" && !f.staysGivenUp(h, h.givenUp):
		f.revive(h)
		f.mark(h)
	}
}

// crawlDelay returns the delay that rules ask for, as far as it is granted.
func (f *Frontier) crawlDelay(rules Permission) moment {
	if rules == nil {
		return 0
	}
	if d, ok := rules.Delay(); ok {
		return min(max(d, 0), f.cfg.MaxCrawlDelay)
	}
	return 0
}

// GivenUp returns why the named host is given up; empty: it is not.
func (f *Frontier) GivenUp(name string) Reason {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, known := range []map[string]*host{f.hosts, f.leaving} {
		if h := known[name]; h != nil {
			return h.givenUp
		}
	}
	h := host{policy: f.overrides.of(name)} // as it would come into memory
	if f.cfg.Lookup != nil {
		s, _ := f.cfg.Lookup(name)
		h.failures, h.pages, h.bytes = s.Failures, s.Pages, s.Bytes
		if s.GivenUp != "" && f.staysGivenUp(&h, s.GivenUp) {
			return s.GivenUp
		}
	}
	if h.overBudget() {
		return BudgetUsed
	}
	return ""
}
