package scope

import (
	"fmt"
	"testing"

	"crawl/canon"
)

// benchScope returns a scope with many seeds, and links of which half are inside.
func benchScope(b *testing.B, cfg Config, seeds int) (*Scope, []canon.URL) {
	b.Helper()
	s, err := New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	for i := range seeds {
		s.AddSeed(parse(b, fmt.Sprintf("https://www.host%d.example/docs/", i)))
	}
	var links []canon.URL
	for i := range 1024 {
		links = append(links, parse(b, fmt.Sprintf("http://host%d.example/docs/a/b/%d.html?x=/y/", 2*i*seeds/1024/2, i)),
			parse(b, fmt.Sprintf("https://other%d.example/docs/%d", i, i)))
	}
	return s, links
}

func BenchmarkTest(b *testing.B) {
	for _, bb := range []struct {
		name  string
		cfg   Config
		seeds int
	}{
		{"host", Config{}, 1},
		{"host of a million", Config{}, 1_000_000},
		{"domain", Config{Mode: Domain}, 1000},
		{"prefix", Config{Mode: Prefix}, 1000},
		{"exclude", Config{Exclude: []string{`\.pdf$`}}, 1000},
		{"rules", Config{Rules: []Rule{
			{Hosts: []string{"*.ads.example", "b.example"}}, {Admit: true, Domains: []string{"a.example"}}, {Prefixes: []string{"host7.example/docs/"}},
			{MinDepth: new(9)}, {ContentTypes: []string{"image/*"}},
		}}, 1000},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s, links := benchScope(b, bb.cfg, bb.seeds)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				s.Test(links[i%len(links)], Place{})
				i++
			}
		})
	}
}

func BenchmarkTestParallel(b *testing.B) {
	s, links := benchScope(b, Config{}, 1000)
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			s.Test(links[i%len(links)], Place{})
		}
	})
}

func BenchmarkAddSeed(b *testing.B) {
	s, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	seeds := make([]canon.URL, 100_000)
	for i := range seeds {
		seeds[i] = parse(b, fmt.Sprintf("https://host%d.example/", i))
	}
	i := 0
	for b.Loop() {
		s.AddSeed(seeds[i%len(seeds)])
		i++
	}
}

func parse(tb testing.TB, text string) canon.URL {
	tb.Helper()
	u, err := canon.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return u
}
