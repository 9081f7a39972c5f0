package crawler

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"crawl/canon"
)

// listAll offers links of a rule to a list, and returns how many it takes.
func listAll(t *testing.T, l *refusedList, rule string, had uint64, urls int, format string) (taken uint64) {
	t.Helper()
	for i := range urls {
		u, err := canon.Parse(fmt.Sprintf(format, i))
		if err != nil {
			t.Fatal(err)
		}
		if take, _ := l.takes(u, rule, had+taken); take {
			taken++
		}
	}
	return taken
}

// The list has a limit of its own, one for a rule on a host, and leaves room for rules to come.
func TestRefusedListIsBounded(t *testing.T) {
	const most = 10_000
	l := newRefusedList(most)
	if got := listAll(t, l, "a", 0, 3*mostOfHost, "http://a.test/%d"); got != mostOfHost {
		t.Errorf("%d of one host are listed, want %d", got, mostOfHost)
	}
	if got := listAll(t, l, "a", mostOfHost, 3*most, "http://h%d.test/"); got != most/2-mostOfHost {
		t.Errorf("%d more of one rule are listed, want %d", got, most/2-mostOfHost)
	}
	if got := listAll(t, l, "b", 0, 3*most, "http://b%d.test/"); got != most/4 {
		t.Errorf("%d of a second rule are listed, want %d", got, most/4)
	}
	for i := range 30 {
		listAll(t, l, fmt.Sprint("rule ", i), 0, most, fmt.Sprintf("http://x%%d.r%d.test/", i))
	}
	if l.listed > most || l.listed < most*9/10 || len(l.known) != l.listed {
		t.Errorf("%d are listed, %d known, want at most %d", l.listed, len(l.known), most)
	}
}

func TestRefusedListOnce(t *testing.T) {
	l := newRefusedList(100)
	u, err := canon.Parse("http://a.test/x")
	if err != nil {
		t.Fatal(err)
	}
	if take, known := l.takes(u, "a", 0); !take || known {
		t.Errorf("the first time: %v, %v", take, known)
	}
	if take, known := l.takes(u, "b", 0); take || !known {
		t.Errorf("again, by another rule: %v, %v", take, known)
	}
	if take, known := newRefusedList(0).takes(u, "a", 0); take || known {
		t.Errorf("a list of none: %v, %v", take, known)
	}
}

// All of a visit's refusals are counted, however many can be offered to the list.
func TestTurnAway(t *testing.T) {
	var v visit
	for range 3 * mostOfVisit {
		v.turnAway(OutOfScope, "a", link{})
	}
	v.turnAway(TooDeep, "a", link{})
	v.tally(ruleKey{Trap, "t"}, 7)
	if v.reasons[OutOfScope] != 3*mostOfVisit || v.reasons[TooDeep] != 1 || v.rules[2].links != 7 || len(v.refusals) != mostOfVisit || len(v.rules) != 3 {
		t.Errorf("reasons %v, %d refusals, rules %+v", v.reasons, len(v.refusals), v.rules)
	}
}

func TestRuleCounts(t *testing.T) {
	var c counters
	for i := range 2 * mostRules {
		c.rule(ruleKey{OutOfScope, fmt.Sprint(i)}).Links++
	}
	c.rule(ruleKey{Trap, "new"}).Links++
	if n := len(c.Rules); n != mostRules+2 {
		t.Errorf("%d rules are kept apart, want %d", n, mostRules+2)
	}
	if got := c.Rules[ruleKey{OutOfScope, otherRules}].Links; got != mostRules {
		t.Errorf("%d links of other rules, want %d", got, mostRules)
	}
	text, err := json.Marshal(c.Rules)
	if err != nil {
		t.Fatal(err)
	}
	var back ruleCounts
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, c.Rules) {
		t.Errorf("read back %v: %d rules, want %d alike", err, len(back), len(c.Rules))
	}
}

// A sample has each URL once and stays as small as it is.
func TestKeepMerge(t *testing.T) {
	var b books
	for i := range 100 {
		b.keepMerge("slash", MergeSample{URL: fmt.Sprint(i / 2)})
	}
	urls := make(map[string]bool)
	for _, s := range b.Merges["slash"] {
		urls[s.URL] = true
	}
	if len(b.Merges["slash"]) != mergeSamples || len(urls) != mergeSamples {
		t.Errorf("%d samples of %d URLs", len(b.Merges["slash"]), len(urls))
	}
}
