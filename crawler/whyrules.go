package crawler

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"crawl/canon"
	"crawl/fetch"
	"crawl/frontier"
	"crawl/internal/scope"
)

// rulings returns what the rules in force say of a URL now. Its task has a Seq where it was admitted.
func (c *Crawler) rulings(t frontier.Task, queue *frontier.Story) []Ruling {
	return withDeny([]Ruling{
		urlRuling(t.URL), scopeRuling(c.scope, c.cfg.CheckExternal, t), depthRuling(c.live.Load().maxDepth, t), trapRuling(c.cfg.Traps, t, time.Now().Year(), c.shutFor),
		robotsRuling(t.URL, queue),
	}, c.deny, t.URL)
}

// shutFor returns the pattern of which no more is wanted that a URL is of, and the rule that says so.
func (c *Crawler) shutFor(u canon.URL) (pattern, rule string) {
	if domain, refused := c.namesakes.refuses(u); refused {
		return hostsPattern(domain), trapHosts
	}
	return c.alike.refuses(u)
}

func urlRuling(u canon.URL) Ruling {
	if tooLong(u) {
		return Ruling{ByURL, Refuses, errTooLong.Error()}
	}
	return Ruling{ByURL, Allows, u.Scheme()}
}

// exempt: the user named it, or one that redirects to it, so scope and depth do not count.
func exempt(t frontier.Task) bool { return t.Seq > 0 && t.Class <= frontier.Added }

const seedsExempt = "seeds are exempt"

func scopeRuling(s *scope.Scope, checks bool, t frontier.Task) Ruling {
	if exempt(t) {
		return Ruling{ByScope, Allows, seedsExempt}
	}
	at := scope.Place{Depth: scope.UnknownDepth, Class: frontier.Navigation.String()} // what is asked about is taken for a page
	if t.Seq > 0 {
		at = placeOf(&t)
	}
	verdict := s.Test(t.URL, at)
	switch rule, barred := s.Barred(t.URL); {
	case isCheck(t) && !checks:
		return Ruling{ByScope, Refuses, checksOff}
	case isCheck(t) && barred:
		return Ruling{ByScope, Refuses, rule}
	case isCheck(t):
		return Ruling{ByScope, Allows, "it is only checked"}
	case verdict.Admitted && verdict.Unless != "":
		return Ruling{ByScope, Allows, fmt.Sprintf("%s; what is not known yet decides about: %s", verdict.Rule, verdict.Unless)}
	case verdict.Admitted:
		return Ruling{ByScope, Allows, verdict.Rule}
	case checks && !barred:
		verdict.Rule += "; a link to it is only checked"
	}
	return Ruling{ByScope, Refuses, verdict.Rule}
}

func isCheck(t frontier.Task) bool { return t.Class == frontier.Check }

const checksExempt = "checks are exempt"

func depthRuling(limit *int, t frontier.Task) Ruling {
	switch {
	case limit == nil:
		return Ruling{ByMaxDepth, Allows, "no limit"}
	case t.Seq == 0:
		return Ruling{ByMaxDepth, Unknown, fmt.Sprintf("max_depth %d, and how deep a link to it would be depends on its page", *limit)}
	case isCheck(t):
		return Ruling{ByMaxDepth, Allows, checksExempt}
	case exempt(t) || !tooDeep(t.Class, t.Depth, limit):
		return Ruling{ByMaxDepth, Allows, fmt.Sprintf("depth %d of %d", t.Depth, *limit)}
	}
	return Ruling{ByMaxDepth, Refuses, fmt.Sprintf("depth %d, max_depth %d", t.Depth, *limit)}
}

func robotsRuling(u canon.URL, queue *frontier.Story) Ruling {
	switch {
	case queue.IgnoresRobots:
		return Ruling{ByRobots, Allows, "robots.txt is ignored"}
	case !queue.Asked:
		return Ruling{ByRobots, Unknown, "the robots.txt of " + u.Origin() + " is not in memory"}
	}
	site, ok := queue.Permission.(*permission)
	switch {
	case !ok:
		return Ruling{ByRobots, Allows, "robots.txt says nothing"}
	case site.unanswered != nil:
		return Ruling{ByRobots, Unknown, fmt.Sprintf("robots.txt was not answered: %v", site.unanswered)}
	}
	return decided(site.Test(u))
}

func decided(d fetch.Decision) Ruling {
	rule := robotsRule(d)
	if rule == "" {
		rule = "no line of robots.txt speaks of it"
	}
	if d.Allowed {
		return Ruling{ByRobots, Allows, rule}
	}
	return Ruling{ByRobots, Refuses, rule}
}

// storedRulings returns what the rules in a checkpoint say.
func storedRulings(dir string, cfg Config, names *canon.Rules, t frontier.Task, alike []AlikePattern) ([]Ruling, error) {
	inScope, err := storedScope(dir, cfg, t)
	if err != nil {
		return nil, err
	}
	robots := Ruling{ByRobots, Unknown, "the robots.txt of " + t.URL.Origin() + " is asked for when the crawl runs"}
	if cfg.Frontier.IgnoreRobots {
		robots = Ruling{ByRobots, Allows, "robots.txt is ignored"}
	}
	lists := storedDenylists(dir, cfg, names)
	all := withDeny([]Ruling{urlRuling(t.URL), inScope, depthRuling(cfg.MaxDepth, t), trapRuling(cfg.Traps, t, time.Now().Year(), amongShown(alike)), robots}, lists, t.URL)
	return all, lists.close()
}

// storedScope reads the seeds until one of them admits the URL.
func storedScope(dir string, cfg Config, t frontier.Task) (Ruling, error) {
	inScope, err := cfg.Scope.compile()
	if err != nil {
		return Ruling{}, err
	}
	verdict := scopeRuling(inScope, cfg.CheckExternal, t)
	for seed, err := range seedsIn(dir).from(0) {
		if verdict.Verdict == Allows {
			return verdict, nil
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return Ruling{ByScope, Unknown, "the crawl's copy of its seeds is gone"}, nil
		case err != nil:
			return Ruling{}, err
		}
		inScope.AddSeed(seed.url)
		verdict = scopeRuling(inScope, cfg.CheckExternal, t)
	}
	if verdict.Verdict == Refuses {
		verdict.Rule += "; hosts that joined later, by crawl add or a seed's redirect, are known to a running crawl only"
	}
	return verdict, nil
}
