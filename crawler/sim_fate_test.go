package crawler

import (
	"crawl/store"
)

// denies reports whether the site's robots.txt, once it is had, forbids the URL.
func (s simURL) denies() bool {
	switch s.host.robots {
	case robotsRules, robotsSick, robotsAway:
		return s.kind == simPrivate
	}
	return false
}

// fate is how a URL must end, and what its page leads to. stranded: it may stay pending, on a host that was given up.
type fate struct {
	outcomes []store.Outcome
	links    []string
	title    string
	stranded bool
}

// leadsTo is what the page of a record links to.
func (f fate) leadsTo(p *store.Page) []string {
	if p.Outcome == store.OutcomeFailed { // its host was down
		return nil
	}
	return f.links
}

func (w *simWeb) fate(s simURL) fate {
	f := w.rightFate(s)
	if s.host.down != nil {
		f.stranded = true
		f.outcomes = append(f.outcomes, store.OutcomeFailed)
	}
	return f
}

// rightFate is that of a URL whose host never goes down.
func (w *simWeb) rightFate(s simURL) fate {
	switch {
	case s.host.noName:
		return fate{outcomes: []store.Outcome{store.OutcomeFailed}}
	case s.host.dead, s.host.robots == robotsMute:
		return fate{outcomes: []store.Outcome{store.OutcomeFailed}, stranded: true}
	case s.host.robots == robotsBroken:
		return fate{outcomes: []store.Outcome{store.OutcomeRobotsDenied}, stranded: true}
	case s.host.robots == robotsLost:
		return fate{outcomes: []store.Outcome{store.OutcomeRobotsDenied, store.OutcomeFailed}, stranded: true}
	case s.denies():
		return fate{outcomes: []store.Outcome{store.OutcomeRobotsDenied}}
	}
	return w.answered(s)
}

// answered is the fate of a URL that is asked for and answers.
func (w *simWeb) answered(s simURL) fate {
	one := func(o store.Outcome) fate { return fate{outcomes: []store.Outcome{o}} }
	if to := w.redirect(s); to != "" {
		f := one(store.OutcomeRedirect)
		if s.kind == simSpelled { // the same page
			f = one(store.OutcomeOK)
			f.links, f.title = w.links(s), s.title()
			return f
		}
		f.links = []string{to}
		return f
	}
	f := one(store.OutcomeOK)
	switch s.kind {
	case "", simGone:
		return one(store.OutcomeClientError)
	case simBroken:
		return one(store.OutcomeServerError)
	case simText:
		return f
	case simStump:
		f = one(store.OutcomeTruncated)
		f.links, f.title = w.stump(s), s.title()
		return f
	}
	f.links, f.title = w.links(s), s.title()
	return f
}

// stump is what a page that is always cut short still links to.
func (w *simWeb) stump(s simURL) []string {
	links := w.links(s)
	return links[:min(2, len(links))]
}
