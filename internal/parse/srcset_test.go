package parse

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// TestSrcsetConformance runs the web platform tests of "parse a srcset attribute".
func TestSrcsetConformance(t *testing.T) {
	data, err := os.ReadFile(conformance(t, "srcset/parse-srcset.json"))
	if err != nil {
		t.Fatal(err)
	}
	type srcsetCase struct {
		Srcset     string
		Candidates []string
	}
	var file struct{ Cases, Own []srcsetCase }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 200 || len(file.Own) == 0 {
		t.Fatalf("%d cases and %d own ones", len(file.Cases), len(file.Own))
	}
	for _, c := range append(file.Cases, file.Own...) {
		got := []string{}
		for url := range srcset([]byte(c.Srcset)) {
			got = append(got, string(url))
		}
		if !slices.Equal(got, c.Candidates) {
			t.Errorf("srcset %q gives %q, want %q", c.Srcset, got, c.Candidates)
		}
	}
}

func TestSrcset(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{"a 1x,b 2x", []string{"a", "b"}},
		{"a,b 2x", []string{"a,b"}}, // no space: one URL
		{"a, b", []string{"a", "b"}},
		{"a,,, ,b 1w", []string{"a", "b"}},
		{"a 1w 2h, b 2h", []string{"a"}},
		{"a 1x 1w, b 1.5x, c .5x, d 1.x, e +1x, f -0x, g -1x, h 1e3x, i 1ex", []string{"b", "c", "f", "h"}},
		{"a 0w, b 0h, c 00012w, d 1W, e 1X", []string{"c"}},
		{"a (1x, b 2x) 1x, c", []string{"c"}}, // parentheses hold commas, and are no descriptor
		{"a (1x, b 2x", nil},
	} {
		var got []string
		for url := range srcset([]byte(tt.in)) {
			got = append(got, string(url))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("srcset %q gives %q, want %q", tt.in, got, tt.want)
		}
	}
}
