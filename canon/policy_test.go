package canon

import (
	"slices"
	"testing"
)

func TestPolicies(t *testing.T) {
	for _, tt := range []struct {
		name   string
		policy Policy
		in     string
		want   string // empty: as it is
		by     []string
	}{
		{"none", Policy{}, "http://www.a.test/b/index.html?b=1&a=2", "", nil},
		{"parameters", Policy{DropParameters: []string{"utm_*", "fbclid"}}, "http://a.test/?utm_source=x&id=3&utm_medium=y&fbclid=z", "http://a.test/?id=3", []string{"parameters"}},
		{"all parameters", Policy{DropParameters: []string{"utm_*"}}, "http://a.test/x?utm_source=x", "http://a.test/x", []string{"parameters"}},
		{"other names", Policy{DropParameters: []string{"utm_*", "ref"}}, "http://a.test/?xutm_source=x&reference=1&UTM_x=1", "", nil},
		{"a parameter without value", Policy{DropParameters: []string{"x"}}, "http://a.test/?x&y", "http://a.test/?y", []string{"parameters"}},
		{"order", Policy{SortParameters: true}, "http://a.test/?b=2&a=9&b=1&a=3", "http://a.test/?a=9&a=3&b=2&b=1", []string{"parameter_order"}},
		{"order as it is", Policy{SortParameters: true}, "http://a.test/?a=2&a=1&b", "", nil},
		{"slash", Policy{MergeSlash: true}, "http://a.test/x/?q=/", "http://a.test/x?q=/", []string{"slash"}},
		{"slash of the root", Policy{MergeSlash: true}, "http://a.test/", "", nil},
		{"slashes alone", Policy{MergeSlash: true}, "http://a.test///", "http://a.test/", []string{"slash"}},
		{"index", Policy{IndexFiles: []string{"index.html", "index.php"}}, "http://a.test/x/index.php?p=1", "http://a.test/x/?p=1", []string{"index_files"}},
		{"no index", Policy{IndexFiles: []string{"index.html"}}, "http://a.test/index.html/x", "", nil},
		{"index below an index", Policy{IndexFiles: []string{"i"}, MergeSlash: true}, "http://a.test/x/i/i/", "http://a.test/x", []string{"index_files", "slash"}},
		{"www", Policy{MergeWWW: true}, "https://www.a.test:81/x", "https://a.test:81/x", []string{"www"}},
		{"www twice", Policy{MergeWWW: true}, "https://www.www.a.test/", "https://a.test/", []string{"www"}},
		{"www as a domain", Policy{MergeWWW: true}, "https://www.com/", "", nil},
		{"schemes", Policy{MergeSchemes: true}, "http://a.test/x", "https://a.test/x", []string{"schemes"}},
		{"schemes with a port", Policy{MergeSchemes: true}, "http://a.test:81/x", "", nil},
		{"session in the path", Policy{DropSessionIDs: true}, "http://a.test/p;jsessionid=0A1B2C3D4E5F60718293A4B5C6D7E8F9?x=1", "http://a.test/p?x=1", []string{"session_ids"}},
		{"session in the middle", Policy{DropSessionIDs: true}, "http://a.test/p;v=1;JSESSIONID=0A1B2C3D.node1/q;sid=0123456789", "http://a.test/p;v=1/q", []string{"session_ids"}},
		{"session in the query", Policy{DropSessionIDs: true}, "http://a.test/p?PHPSESSID=0a1b2c3d4e5f60718293a4b5c6d7e8f9&p=2", "http://a.test/p?p=2", []string{"session_ids"}},
		{"session of ASP", Policy{DropSessionIDs: true}, "http://a.test/p?ASPSESSIONIDQQABCD=KJHGFDSA1OIUZTREWQ", "http://a.test/p", []string{"session_ids"}},
		{"no session", Policy{DropSessionIDs: true}, "http://a.test/p;sid=3?sid=12&session=monday&sid=abcdefghijkl", "", nil},
		{"one host", Policy{Hosts: "a.test", MergeSlash: true}, "http://a.test/x/", "http://a.test/x", []string{"slash"}},
		{"another host", Policy{Hosts: "a.test", MergeSlash: true}, "http://b.a.test/x/", "", nil},
		{"hosts below", Policy{Hosts: "*.a.test", MergeSlash: true}, "http://b.a.test/x/", "http://b.a.test/x", []string{"slash"}},
		{"the host itself", Policy{Hosts: "*.a.test", MergeSlash: true}, "http://a.test/x/", "http://a.test/x", []string{"slash"}},
		{"a host that ends alike", Policy{Hosts: "*.a.test", MergeSlash: true}, "http://ba.test/x/", "", nil},
		{"a port", Policy{Hosts: "a.test:443", MergeSlash: true}, "https://a.test/x/", "https://a.test/x", []string{"slash"}},
		{"every host on a port", Policy{Hosts: "*:443", MergeSlash: true}, "https://a.test/x/", "https://a.test/x", []string{"slash"}},
		{"another port", Policy{Hosts: "a.test:443", MergeSlash: true}, "http://a.test/x/", "", nil},
	} {
		r, err := NewRules(tt.policy)
		if err != nil {
			t.Fatal(err)
		}
		u, err := Parse(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		want := tt.want
		if want == "" {
			want = tt.in
		}
		key, by := r.Apply(u)
		if key != want || !slices.Equal(by.Names(), tt.by) {
			t.Errorf("%s: the key of %s is %s by %v, want %s by %v", tt.name, tt.in, key, by.Names(), want, tt.by)
		}
		if u.String() != tt.in {
			t.Errorf("%s: %s is requested as %s", tt.name, tt.in, u)
		}
	}
}

func TestPolicyVersions(t *testing.T) {
	versions := map[string]bool{(*Rules)(nil).Version(): true}
	for _, p := range [][]Policy{{{}}, {{MergeSlash: true}}, {{Hosts: "a.test", MergeSlash: true}}, {{DropParameters: []string{"a b"}}}, {{DropParameters: []string{"a", "b"}}}, {{MergeSlash: true}, {}}} {
		r, err := NewRules(p...)
		if err != nil {
			t.Fatal(err)
		}
		if v := r.Version(); versions[v] {
			t.Errorf("%+v has the version %s of others", p, v)
		} else {
			versions[v] = true
		}
	}
	if r, err := NewRules(); err != nil || r.Version() != (*Rules)(nil).Version() {
		t.Errorf("no policy is another version than the safe rules: %v, %v", r.Version(), err)
	}
	if _, err := NewRules(Policy{Hosts: "a.*.test"}); err == nil {
		t.Error("a star in the middle is taken")
	}
}

// FuzzPolicy: a name is final, and parses.
func FuzzPolicy(f *testing.F) {
	f.Add("http://www.a.test/x/index.html;jsessionid=0123456789/?b&utm_x=1&a=1&&sid=0123456789")
	f.Add("http://a.test/i//i/;sid=12345678/i")
	r, err := NewRules(Policy{DropParameters: []string{"utm_*"}, SortParameters: true, MergeSlash: true},
		Policy{DropSessionIDs: true, IndexFiles: []string{"index.html", "i"}, MergeWWW: true, MergeSchemes: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in string) {
		u, err := Parse(in)
		if err != nil {
			return
		}
		key := r.Key(u)
		again, err := Parse(key)
		if err != nil {
			t.Fatalf("the key %s of %s: %v", key, u, err)
		}
		if second := r.Key(again); second != key {
			t.Errorf("the key of %s is %s, and the key of that %s", u, key, second)
		}
	})
}
