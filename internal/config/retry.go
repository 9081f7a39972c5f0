package config

import (
	"fmt"
	"iter"
	"slices"
	"time"
)

// RetryClass is a kind of failure that may pass.
type RetryClass string

// RetryRule is what holds for failures of one class, where it differs from Retries and RetryDelay. Nil fields change
// nothing.
type RetryRule struct {
	Class   RetryClass
	Retries *Count
	Delay   *Duration
}

func (RetryClass) choices() []string {
	return []string{"dns", "proxy", "dial", "tls", "timeout", "reset", "status_429", "status_503", "status_5xx"}
}

// maxRetries and maxRetryDelay are what a crawl's logs hold, and a day.
const (
	maxRetries    = 100
	maxRetryDelay = Duration(24 * time.Hour)
)

// retryRules is the slot of the rules by class of failure.
func retryRules(v *[]RetryRule) slot { return retrySlot{v: v} }

// retrySlot is a mapping of classes to what holds for each, so only a file can hold it.
type retrySlot struct {
	ordinary
	v *[]RetryRule
}

func (retrySlot) put(text string) error { return bad("classes of failure in a file", text) }
func (retrySlot) Type() string          { return "classes" }
func (s retrySlot) clear()              { *s.v = nil }

// texts names the classes.
func (s retrySlot) texts() []string {
	var names []string
	for _, r := range *s.v {
		names = append(names, string(r.Class))
	}
	return names
}

func (retrySlot) names() []string { return RetryClass("").choices() }

// at returns the keys of a class, which are good until the next call.
func (s retrySlot) at(name string) []entryKey {
	i := slices.IndexFunc(*s.v, func(r RetryRule) bool { return string(r.Class) == name })
	if i < 0 {
		i = len(*s.v)
		*s.v = append(*s.v, RetryRule{Class: RetryClass(name)})
	}
	return (&(*s.v)[i]).keys()
}

func (s retrySlot) all() iter.Seq2[string, []entryKey] {
	return func(yield func(string, []entryKey) bool) {
		for i := range *s.v {
			if r := &(*s.v)[i]; !yield(string(r.Class), r.keys()) {
				return
			}
		}
	}
}

// keys lists what a rule may have, in the order of a rendered file.
func (r *RetryRule) keys() []entryKey {
	return []entryKey{
		{key: "retries", at: maybe(&r.Retries), check: func() string { return withinIf(r.Retries, 0, maxRetries) }},
		{key: "delay", at: maybe(&r.Delay), check: func() string { return withinIf(r.Delay, 0, maxRetryDelay) }},
	}
}

// soundRetries returns what is wanted of the rules when they hold what no file could.
func soundRetries(rules []RetryRule) string {
	met := map[RetryClass]bool{}
	for _, r := range rules {
		if !slices.Contains(r.Class.choices(), string(r.Class)) {
			return fmt.Sprintf("classes of %v", r.Class.choices())
		}
		if met[r.Class] {
			return fmt.Sprintf("each class once (%s is there twice)", r.Class)
		}
		if r.Retries == nil && r.Delay == nil {
			return fmt.Sprintf("retries or delay for each class (%s has neither)", r.Class)
		}
		met[r.Class] = true
		for _, k := range r.keys() {
			if want := k.wanted(); want != "" {
				return fmt.Sprintf("%s: %s %s", r.Class, k.key, want)
			}
		}
	}
	return ""
}
