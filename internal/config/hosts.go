package config

import (
	"errors"
	"fmt"
	"slices"
)

// HostRule is what holds for the hosts that match Pattern, where it differs from what holds for all. Nil fields change
// nothing.
type HostRule struct {
	Pattern     HostPattern
	Delay       *Duration
	Concurrency *Count
	Robots      *Robots
	MaxPages    *Optional[Count] // none lifts max_pages_per_host; 0 drops the host
	MaxBytes    *Optional[Size]  // none lifts max_bytes_per_host
	Headers     []Header         // beside those for all; one of the same name in a later entry replaces one in an earlier
	Cookies     *Cookies
	Proxy       *Optional[Proxy] // none goes by none
	Auth        *Optional[Auth]  // none keeps the one for the seeds' hosts back
}

// hostRules is the slot of the rules for some hosts.
func hostRules(v *[]HostRule) slot {
	return entries[HostRule]{v: v, keys: (*HostRule).keys, name: func(r *HostRule) string { return string(r.Pattern) }}
}

// keys lists what a rule may have, in the order of a rendered file.
func (r *HostRule) keys() []entryKey {
	return []entryKey{
		{key: "pattern", at: one(&r.Pattern)},
		{key: "delay", at: maybe(&r.Delay)},
		{key: "concurrency", at: maybe(&r.Concurrency), check: func() string { return withinIf(r.Concurrency, 1, maxConcurrency) }},
		{key: "robots", at: maybe(&r.Robots)},
		{key: "max_pages", at: maybe(&r.MaxPages)},
		{key: "max_bytes", at: maybe(&r.MaxBytes)},
		{key: "headers", at: headerList(&r.Headers)},
		{key: "auth", at: maybe(&r.Auth)},
		{key: "cookies", at: maybe(&r.Cookies)},
		{key: "proxy", at: maybe(&r.Proxy)},
	}
}

// says reports whether anything differs.
func (r *HostRule) says() bool {
	return slices.ContainsFunc(r.keys(), func(k entryKey) bool { return k.key != "pattern" && len(k.at.texts()) > 0 })
}

// soundRules returns what is wanted of the rules when one lacks its pattern, or holds what no file could.
func soundRules(rules []HostRule) string {
	for i, r := range rules { // a copy of each, which put may write to
		if r.Pattern == "" {
			return fmt.Sprintf("pattern in each entry (entry %d lacks one)", i+1)
		}
		if want := soundEntry(r.keys()); want != "" {
			return fmt.Sprintf("%s (entry %d)", want, i+1)
		}
		if !r.says() {
			return fmt.Sprintf("what differs for those hosts in each entry, such as delay: 5s (entry %d says nothing)", i+1)
		}
	}
	return ""
}

// soundEntry returns the key of an element that holds what no file could, and what is wanted there. It writes to the
// element.
func soundEntry(keys []entryKey) string {
	for _, k := range keys {
		want := k.wanted()
		texts := k.at.texts()
		k.at.clear()
		for _, text := range texts {
			if wrong, ok := errors.AsType[*badValue](k.at.put(text)); ok {
				want = wrong.want
			}
		}
		if want != "" {
			return k.key + " " + want
		}
	}
	return ""
}

// maybe returns the slot of a value that may be left out.
func maybe[T value[T]](v **T) slot { return leftOut[T]{v: v} }

type leftOut[T value[T]] struct {
	ordinary
	v **T
}

func (l leftOut[T]) put(text string) error {
	var read T
	if err := set(&read, text); err != nil {
		return err
	}
	*l.v = &read
	return nil
}

func (l leftOut[T]) texts() []string {
	if *l.v == nil {
		return nil
	}
	return []string{(**l.v).String()}
}

func (l leftOut[T]) secrets() []secretive {
	if one, ok := any(*l.v).(secretive); ok && *l.v != nil {
		return []secretive{one}
	}
	return nil
}

func (l leftOut[T]) Type() string { return (*new(T)).Type() }

func (l leftOut[T]) isOptional() bool {
	_, can := any(*new(T)).(absentable)
	return can
}
