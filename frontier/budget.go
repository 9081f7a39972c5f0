package frontier

// BudgetUsed is the Reason of a host that has had all pages or bytes that the Config allows it.
const BudgetUsed Reason = "budget used up"

// charge books what a lease cost its host's budget.
func (f *Frontier) charge(h *host, kind Kind, o Outcome, now moment) {
	if !h.policy.limited() {
		return
	}
	recorded := o.Recorded && kind == Page
	if recorded {
		h.pages++
	}
	h.bytes += uint64(max(o.Bytes, 0))
	if recorded || o.Bytes > 0 {
		f.mark(h)
	}
	if h.givenUp == "" && h.overBudget() {
		f.giveUp(h, BudgetUsed, now)
	}
}

// limited reports whether a host's pages and bytes need counting.
func (p *policy) limited() bool { return p.maxPages != noLimit || p.maxBytes != noLimit }

func (h *host) overBudget() bool {
	return h.policy.limited() && (h.pages >= h.policy.maxPages || h.bytes >= h.policy.maxBytes)
}

const noLimit = ^uint64(0)

// policy returns what holds for hosts that no override matches.
func (c Config) policy() policy {
	p := policy{
		hostDelay: c.HostDelay, hostConcurrency: c.HostConcurrency, ignoreRobots: c.IgnoreRobots,
		maxPages: c.MaxHostPages, maxBytes: c.MaxHostBytes,
	}
	if p.maxPages == 0 {
		p.maxPages = noLimit
	}
	if p.maxBytes == 0 {
		p.maxBytes = noLimit
	}
	return p
}

// IgnoresRobots reports whether the robots.txt of a host, as canon.URL.Host names it, is left unasked. The error is that of
// Validate.
func (c Config) IgnoresRobots(host string) (bool, error) {
	policies, err := compileOverrides(c.policy(), c.Overrides)
	if err != nil {
		return false, err
	}
	return policies.of(host).ignoreRobots, nil
}
