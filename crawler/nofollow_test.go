package crawler_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"crawl/crawler"
)

// Whose nofollow counts, and what it is counted as.
func TestNoFollow(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{
		"http://a.test/":       {body: "<a href=/meta><a href=/header><a href=/plain><a rel='ugc NoFollow' href=/said><a rel=nofollow href=/both><a href=/both>"},
		"http://a.test/meta":   {body: "<meta name=robots content='noindex, nofollow'><a href=/from-meta><a rel=nofollow href=/from-meta-said>"},
		"http://a.test/header": {header: map[string]string{"X-Robots-Tag": "none"}, body: "<a href=/from-header>"},
		"http://a.test/plain":  {}, "http://a.test/said": {}, "http://a.test/both": {},
		"http://a.test/from-meta": {}, "http://a.test/from-meta-said": {}, "http://a.test/from-header": {},
	})
	always := []string{"both", "header", "meta", "plain"}
	for _, tt := range []struct {
		name  string
		rules crawler.NoFollowRules
		more  []string // that are fetched beside
		want  crawler.NoFollowView
	}{
		{"pages", crawler.NoFollowRules{}, []string{"said"}, crawler.NoFollowView{Page: 3, Followed: 1}},
		{"links", crawler.NoFollowRules{IgnorePages: true, ObeyLinks: true}, []string{"from-meta", "from-header"}, crawler.NoFollowView{Link: 2}},
		{"all", crawler.NoFollowRules{ObeyLinks: true}, nil, crawler.NoFollowView{Page: 3, Link: 1}},
		{"ignore", crawler.NoFollowRules{IgnorePages: true}, []string{"said", "from-meta", "from-meta-said", "from-header"}, crawler.NoFollowView{Followed: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := w.quick()
			cfg.NoFollow = tt.rules
			pages, s := crawl(t, cfg, "http://a.test/")
			if s.NoFollow != tt.want || s.ByReason["nofollow"] != tt.want.Page+tt.want.Link {
				t.Errorf("counted %+v of %d, want %+v", s.NoFollow, s.ByReason["nofollow"], tt.want)
			}
			want := slices.Concat(always, tt.more)
			slices.Sort(want)
			var got []string
			for url := range maps.Keys(pages) {
				if name := strings.TrimPrefix(url, "http://a.test/"); name != "" {
					got = append(got, name)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("fetched %q, want %q", got, want)
			}
			if n := pages["http://a.test/"].RelNoFollow; n != 1 { // a URL that is linked without it, too, is none
				t.Errorf("nofollow_links %d, want 1", n)
			}
		})
	}
}
