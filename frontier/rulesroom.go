package frontier

import "time"

const (
	// largeRules is from how many bytes on the rules of a robots.txt count against Config.MaxRulesBytes. Those of most
	// sites take less, and MaxHosts bounds what they take together.
	largeRules = 4 << 10

	// rulesWait is how long a host waits whose rules find no room, before its robots.txt is asked for again.
	rulesWait = time.Minute

	// rulesLooks is how many of those that have room are looked at to make more of it.
	rulesLooks = 16
)

// rulesRoom is the memory for large rules. Robots.txt files of 500 KiB at each of a hundred thousand made-up hosts would
// fill any other: so the rules that were used longest ago go, and are asked for again before their host's next page. What
// has room serves one page before it goes, so such hosts take turns, and no other host is held up. One for whose rules there
// is no room waits, for as long as others have theirs and may not be asked.
type rulesRoom struct {
	held  int64
	byUse list[largeRule, *largeRule] // used longest ago first
	of    map[*origin]*largeRule
}

// largeRule is the room of one origin's rules.
type largeRule struct {
	links[largeRule] // in rulesRoom.byUse

	origin *origin
	size   int64
}

// keep gives o room for rules of a size, and reports whether there is any.
func (r *rulesRoom) keep(o *origin, size, most int64) bool {
	if r.leave(o); size < largeRules {
		return true
	}
	for range min(rulesLooks, r.byUse.n) {
		if r.held+size <= most {
			break
		}
		oldest := r.byUse.first
		if oldest.origin.rulesTerm.unused && oldest.origin.host.hasWork() {
			r.byUse.remove(oldest)
			r.byUse.push(oldest)
			continue
		}
		oldest.origin.forgetRules()
		r.leave(oldest.origin)
	}
	if r.held+size > most && r.held > 0 {
		return false
	}
	if r.of == nil {
		r.of = make(map[*origin]*largeRule)
	}
	l := &largeRule{origin: o, size: size}
	r.of[o] = l
	r.byUse.push(l)
	r.held += size
	return true
}

// leave takes o's room back, if it has any.
func (r *rulesRoom) leave(o *origin) {
	if l := r.of[o]; l != nil {
		delete(r.of, o)
		r.byUse.remove(l)
		r.held -= l.size
	}
}

// used notes that o's rules have served.
func (r *rulesRoom) used(o *origin) {
	if r.byUse.n == 0 { // as in most crawls
		return
	}
	if l := r.of[o]; l != nil {
		r.byUse.remove(l)
		r.byUse.push(l)
	}
}

// hasWork reports whether h may soon have use for what is known of it.
func (h *host) hasWork() bool { return h.place != idle && h.givenUp == "" }

// forgetRules has o's robots.txt asked for again before its next page. Its delay goes on.
func (o *origin) forgetRules() { o.rules, o.rulesTerm = nil, term{} }
