package canon

import "testing"

func TestHostPattern(t *testing.T) {
	for _, tt := range []struct {
		text string
		want HostPattern
		is   []string // hosts whose names match
		not  []string
	}{
		{"a.example", HostPattern{Name: "a.example"}, []string{"a.example", "a.example.", "a.example:81"}, []string{"b.a.example", "xa.example", "example"}},
		{"A.Example.:8080", HostPattern{Name: "a.example", Port: "8080"}, []string{"a.example:8080", "a.example"}, []string{"b.example:8080"}},
		{"*.example", HostPattern{Name: "example", Below: true}, []string{"example", "a.example", "a.b.example."}, []string{"xexample", "example.test"}},
		{"*.example:80", HostPattern{Name: "example", Below: true, Port: "80"}, []string{"a.example"}, []string{"a.test"}},
		{"*", HostPattern{Below: true}, []string{"a.example", "127.0.0.1", "[::1]:80"}, nil},
		{"*:81", HostPattern{Below: true, Port: "81"}, []string{"a.example"}, nil},
		{"127.0.0.1", HostPattern{Name: "127.0.0.1"}, []string{"127.0.0.1:8080"}, []string{"127.0.0.2", "1.127.0.0.1.example"}},
		{"[0::1]:81", HostPattern{Name: "[::1]", Port: "81"}, []string{"[::1]", "[0:0::1]:81"}, []string{"[::2]"}},
		{"*.BÜCHER.example", HostPattern{Name: "xn--bcher-kva.example", Below: true}, []string{"a.bücher.example"}, []string{"bucher.example"}},
	} {
		p, err := ParseHostPattern(tt.text)
		if err != nil || p != tt.want {
			t.Errorf("%q is %+v, %v, want %+v", tt.text, p, err, tt.want)
		}
		for _, host := range tt.is {
			if u := mustParse(t, "http://"+host+"/"); !p.MatchesName(u) {
				t.Errorf("%q does not match %s", tt.text, host)
			}
		}
		for _, host := range tt.not {
			if u, err := Parse("http://" + host + "/"); err == nil && p.MatchesName(u) {
				t.Errorf("%q matches %s", tt.text, host)
			}
		}
	}
	for _, text := range []string{
		"", "*.", "**", "*a.example", "a.*.example", "*.*.example", "a.*", ".", "a b", "http://a.example", "a.example/", "u@a.example",
		"a.example:", "a.example:65536", "a.example:x", "*:", "*.:80", "::1", "[::1", "*.127.0.0.1", "*.[::1]", "a?b", "a#b", `a\b`, "a%41b", "a\tb",
	} {
		if p, err := ParseHostPattern(text); err == nil {
			t.Errorf("%q is %+v, want it refused", text, p)
		}
	}
}
