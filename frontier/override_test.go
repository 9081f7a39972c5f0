package frontier

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

var basePolicy = policy{hostDelay: time.Second, hostConcurrency: 1, maxPages: math.MaxUint64, maxBytes: math.MaxUint64}

func mustOverrides(t testing.TB, list ...Override) *overrides {
	t.Helper()
	o, err := compileOverrides(basePolicy, list)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// delayed is an override whose delay tells that it matched.
func delayed(pattern string, d time.Duration) Override {
	return Override{Pattern: pattern, HostDelay: &d}
}

func TestOverridePatterns(t *testing.T) {
	for _, tt := range []struct {
		pattern  string
		match    []string
		mismatch []string
	}{
		{"a.example", []string{"a.example", "a.example:8080", "a.example."}, []string{"b.a.example", "example", "aa.example", "a.example.org"}},
		{"A.Example.", []string{"a.example", "a.example.:81"}, []string{"b.example"}},
		{"a.example:8080", []string{"a.example:8080", "a.example.:8080"}, []string{"a.example", "a.example:80", "a.example:443"}},
		{"a.example:443", []string{"a.example", "a.example:443"}, []string{"a.example:80", "a.example:8443"}},
		{"a.example:80", []string{"a.example", "a.example:80"}, []string{"a.example:443"}},
		{"*.example", []string{"example", "a.example", "b.a.example", "a.example:8080", "example."}, []string{"anexample", "example.org", "a.example.org", "localhost"}},
		{"*.example:81", []string{"example:81", "b.a.example:81"}, []string{"example", "a.example", "a.example:8"}},
		{"*", []string{"example", "a.example:8080", "127.0.0.1", "[::1]", "[::1]:81", "localhost"}, nil},
		{"*:81", []string{"example:81", "[::1]:81", "127.0.0.1:81"}, []string{"example", "[::1]", "127.0.0.1:82"}},
		{"*:443", []string{"example", "[::1]"}, []string{"a.example:81"}},
		{"127.0.0.1", []string{"127.0.0.1", "127.0.0.1:81"}, []string{"127.0.0.10", "1.127.0.0.1.example"}},
		{"0x7f.1", []string{"127.0.0.1"}, []string{"127.0.0.2"}},
		{"[::1]", []string{"[::1]", "[::1]:81"}, []string{"[::2]"}},
		{"[0:0::1]:81", []string{"[::1]:81"}, []string{"[::1]", "[::1]:82"}},
		{"*.bücher.example", []string{"xn--bcher-kva.example", "a.xn--bcher-kva.example"}, []string{"b.example"}},
		{"a_b.example", []string{"a_b.example"}, nil},
	} {
		t.Run(tt.pattern, func(t *testing.T) {
			o := mustOverrides(t, delayed("other.test", time.Hour), delayed(tt.pattern, time.Minute))
			for _, host := range tt.match {
				if got := o.of(host).hostDelay; got != time.Minute {
					t.Errorf("%s has the delay %v, want that of the pattern", host, got)
				}
			}
			for _, host := range tt.mismatch {
				if got := o.of(host); got != &o.base {
					t.Errorf("%s has %+v, want it untouched", host, *got)
				}
			}
		})
	}
}

func TestOverrideProblems(t *testing.T) {
	for _, pattern := range []string{
		"", "*.", "**", "*a.example", "a.*.example", "*.*.example", "a.*", ".", "a b", "http://a.example", "a.example/", "u@a.example",
		"a.example:", "a.example:65536", "a.example:x", "*:", "*.:80", "::1", "[::1", "*.127.0.0.1", "*.[::1]", "a?b", "a#b", `a\b`, "a%41b", "a\tb",
	} {
		if err := (Override{Pattern: pattern}).Validate(); err == nil || !strings.HasPrefix(err.Error(), "hosts: pattern: want a host such as") {
			t.Errorf("%q: got %v, want it refused", pattern, err)
		}
	}
	delay, many := -time.Second, 0
	err := Override{Pattern: "a.example", HostDelay: &delay, HostConcurrency: &many}.Validate()
	const want = "hosts: a.example: delay: want 0s or more, got -1s\nhosts: a.example: concurrency: want 1 or more, got 0"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if o, err := compileOverrides(basePolicy, []Override{{Pattern: "a.example"}, {Pattern: ""}, {Pattern: "*."}}); o != nil || err == nil ||
		strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("got %v, %v, want both problems", o, err)
	}
}

// Of the overrides that match a host the last one that sets a field decides it, however narrow its pattern is.
func TestLaterOverridesWinFieldByField(t *testing.T) {
	for _, tt := range []struct {
		name string
		list []Override
		want policy
	}{
		{"none", nil, basePolicy},
		{"all fields", []Override{{"a.b.example", new(2 * time.Second), new(3), new(true), new(uint64(4)), new(uint64(5))}},
			policy{2 * time.Second, 3, true, 4, 5}},
		{"zero is a value", []Override{{Pattern: "*", HostDelay: new(time.Duration(0)), MaxPages: new(uint64(0))}},
			policy{0, 1, false, 0, math.MaxUint64}},
		{"narrow after wide", []Override{
			{Pattern: "*", HostDelay: new(9 * time.Second), HostConcurrency: new(9)}, {Pattern: "a.b.example", HostDelay: new(2 * time.Second)},
		}, policy{2 * time.Second, 9, false, math.MaxUint64, math.MaxUint64}},
		{"wide after narrow", []Override{
			{Pattern: "a.b.example", HostDelay: new(2 * time.Second), HostConcurrency: new(2)}, {Pattern: "*.example", HostDelay: new(9 * time.Second)},
		}, policy{9 * time.Second, 2, false, math.MaxUint64, math.MaxUint64}},
		{"the same pattern again", []Override{
			{Pattern: "*.example", MaxPages: new(uint64(1)), MaxBytes: new(uint64(1))}, {Pattern: "*.EXAMPLE", MaxPages: new(uint64(2))},
		}, policy{time.Second, 1, false, 2, 1}},
		{"back to the start", []Override{
			{Pattern: "*", IgnoreRobots: new(true)}, {Pattern: "*.b.example", IgnoreRobots: new(false)},
		}, basePolicy},
		{"one for each field", []Override{
			{Pattern: "a.b.example:80", MaxBytes: new(uint64(5))}, {Pattern: "*.b.example:443", MaxPages: new(uint64(4))},
			{Pattern: "*.example", IgnoreRobots: new(true)}, {Pattern: "*:443", HostConcurrency: new(3)}, {Pattern: "a.b.example", HostDelay: new(2 * time.Second)},
		}, policy{2 * time.Second, 3, true, 4, 5}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := *mustOverrides(t, tt.list...).of("a.b.example"); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// manyOverrides is a list as long as somebody may make it.
func manyOverrides() []Override {
	var list []Override
	for i := range 5000 {
		list = append(list, delayed(fmt.Sprintf("h%d.example", i), time.Minute), delayed(fmt.Sprintf("*.d%d.example", i), time.Hour))
	}
	return list
}

// Hosts with equal policies share one: a million hosts below one pattern cost no more than one of them.
func TestPoliciesAreShared(t *testing.T) {
	o := mustOverrides(t, manyOverrides()...)
	deep := strings.Repeat("a.", 60) + "d7.example"
	for _, host := range []string{"a.example", "h1.example", deep, "127.0.0.1", "[::1]:81"} {
		o.of(host)
		if n := testing.AllocsPerRun(100, func() { o.of(host) }); n != 0 {
			t.Errorf("%s: %v allocations", host, n)
		}
	}
	if o.of("h1.example") != o.of("h2.example:81") || o.of(deep) != o.of("d8.example") || len(o.shared) != 2 {
		t.Errorf("%d policies for two that differ from the usual", len(o.shared))
	}
	if got := *mustOverrides(t, delayed("a.example", time.Second)).of("a.example"); got != basePolicy {
		t.Errorf("an override that changes nothing gives %+v", got)
	}
}

func BenchmarkOverrides(b *testing.B) {
	o := mustOverrides(b, manyOverrides()...)
	for _, host := range []string{"www.site.test", "h1.example", "a.b.c.d.e.d7.example:8080"} {
		b.Run(host, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				o.of(host)
			}
		})
	}
}
