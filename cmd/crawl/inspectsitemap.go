package main

import (
	"bytes"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"crawl/internal/parse"
	"crawl/internal/sitemap"
)

// entryFacts is a line of `inspect sitemap`.
type entryFacts struct {
	Loc     string     `json:"loc"`
	Kind    string     `json:"kind"`
	LastMod *time.Time `json:"lastmod,omitempty"`
}

func (a *app) inspectSitemapCommand() *cobra.Command {
	var base, contentType string
	cmd := &cobra.Command{
		Use:   "sitemap --base URL [--content-type CT] FILE|-|URL",
		Short: "Show what a sitemap or a feed lists",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			in, err := a.pageInput(cmd, given[0], base, contentType)
			if err != nil {
				return err
			}
			out := a.lines()
			var failed error
			sum, err := sitemap.Read(sitemap.Input{
				URL: in.URL, ContentType: parse.ContentType(in.Header), Body: bytes.NewReader(in.Body),
			}, func(e sitemap.Entry) bool {
				failed = out.Encode(entryFactsOf(e))
				return failed == nil
			})
			switch {
			case failed != nil:
				return failed
			case err != nil:
				return fmt.Errorf("%s: %w", given[0], err)
			}
			a.tellLeftOut(sum)
			return nil
		},
	}
	cmd.Flags().StringVar(&base, "base", "", "address of the sitemap; of a URL, the URL itself")
	cmd.Flags().StringVar(&contentType, "content-type", "", "its Content-Type, whose charset counts")
	return cmd
}

func entryFactsOf(e sitemap.Entry) entryFacts {
	facts := entryFacts{Loc: e.URL.String(), Kind: e.Kind.String()}
	if !e.LastMod.IsZero() {
		facts.LastMod = &e.LastMod
	}
	return facts
}

// tellLeftOut says what a list holds beside its entries.
func (a *app) tellLeftOut(sum sitemap.Summary) {
	for _, left := range []struct {
		n    int
		what string
	}{
		{sum.Malformed, "entries are no URL"}, {sum.Unsupported, "entries are neither http nor https"},
		{sum.Beyond, fmt.Sprintf("entries are past the %d that a sitemap may have", sitemap.MaxEntries)},
	} {
		if left.n > 0 {
			fmt.Fprintf(a.stderr, "crawl: left out: %d %s\n", left.n, left.what)
		}
	}
}
