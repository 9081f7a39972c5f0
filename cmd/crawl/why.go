package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"crawl/canon"
	"crawl/crawler"
)

func (a *app) whyCommand() *cobra.Command {
	exact := false
	cmd := &cobra.Command{
		Use:   "why [DIR] URL",
		Short: "Tell what became of one URL, and why",
		Long: `Tell what became of one URL, and why: never met, a seed that was not read yet, refused (by which rule, of those in force now), pending (its place in its
host's queue, what it waits for, and until when), in flight, done (with its page record), or taken for seen by a filter
that errs. A bare host is taken as https, then as http. --json prints one object.

A running crawl tells it of this moment; of any other its last checkpoint does, which knows neither places in queues, nor
what the filter says, nor hosts that joined the scope later. With --exact a crawl that does not run is opened, as resume
does, and tells all that it knows: that takes longer, and nobody else may have it open.

It exits with 0 when the crawl has met the URL (pending, in flight or done), and with 1 when not.`,
		RunE: func(cmd *cobra.Command, given []string) error {
			dir, urls, err := dirAmong(given)
			if err != nil {
				return err
			}
			if len(urls) != 1 {
				return usagef("why: want one URL, got %d", len(urls))
			}
			story, err := askWhy(cmd.Context(), dir, urls[0], exact)
			if err != nil {
				return explain(err, dir)
			}
			return a.tell(&story)
		},
	}
	cmd.Flags().BoolVar(&exact, "exact", false, "open a crawl that does not run, to ask its filter and its hosts too")
	return cmd
}

// askWhy returns the story of what a text stands for, as whoever knows most of the crawl tells it.
func askWhy(ctx context.Context, dir, text string, exact bool) (story crawler.Story, err error) {
	urls, err := crawler.SpelledAs(text)
	if e, unreadable := errors.AsType[*canon.Error](err); unreadable {
		return crawler.Unreadable(text, e), nil
	}
	if err != nil {
		return story, err
	}
	if r, err := dial(dir); err == nil {
		return firstMet(urls, func(u canon.URL) (crawler.Story, error) { return r.why(ctx, u) })
	}
	if !exact {
		return firstMet(urls, func(u canon.URL) (crawler.Story, error) { return crawler.ReadStory(ctx, dir, u) })
	}
	c, err := crawler.Open(dir, nil)
	if err != nil {
		return story, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return firstMet(urls, func(u canon.URL) (crawler.Story, error) { return c.Why(ctx, u) })
}

// firstMet returns the story of the first of the URLs that was met, or will be as a seed; of none, that of the first.
func firstMet(urls []canon.URL, tell func(canon.URL) (crawler.Story, error)) (crawler.Story, error) {
	known := func(s *crawler.Story) bool { return s.Met() || s.Fate == crawler.FateUnreadSeed }
	first, err := tell(urls[0])
	if err != nil || known(&first) {
		return first, err
	}
	for _, u := range urls[1:] {
		if story, err := tell(u); err != nil || known(&story) {
			return story, err
		}
	}
	return first, nil
}

func (r *remote) why(ctx context.Context, u canon.URL) (crawler.Story, error) {
	var story crawler.Story
	err := r.call(ctx, http.MethodGet, "/why?url="+url.QueryEscape(u.String()), nil, &story)
	return story, err
}

// answerWhy answers remote.why.
func answerWhy(c *crawler.Crawler, r *http.Request) (any, error) {
	u, err := canon.Parse(r.URL.Query().Get("url"))
	if err != nil {
		return nil, err
	}
	return c.Why(r.Context(), u)
}

// tell prints a story.
func (a *app) tell(s *crawler.Story) error {
	var err error
	if a.json {
		err = a.lines().Encode(s)
	} else {
		_, err = fmt.Fprint(a.stdout, storyText(s))
	}
	if err == nil && !s.Met() {
		err = fmt.Errorf("%s: %s", s.URL, notMetText(s))
	}
	return err
}

// pageLine is a page record as it stands in its file.
func pageLine(s *crawler.Story) string {
	text, err := json.Marshal(s.Page)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
