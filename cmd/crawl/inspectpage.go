package main

import (
	"github.com/spf13/cobra"

	"crawl/internal/parse"
)

// pageFacts is what `inspect page` says.
type pageFacts struct {
	Charset     string            `json:"charset"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	H1          string            `json:"h1"`
	Lang        string            `json:"lang"`
	Canonical   string            `json:"canonical"`
	Base        string            `json:"base"`
	Robots      string            `json:"robots"`
	NoFollow    bool              `json:"nofollow"`
	Hreflang    []parse.Alternate `json:"hreflang,omitempty"`
	Links       int               `json:"links"`
}

func (a *app) inspectPageCommand() *cobra.Command {
	var base, contentType string
	cmd := &cobra.Command{
		Use:   "page --base URL [--content-type CT] FILE|-|URL",
		Short: "Show the facts of a page",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			in, err := a.pageInput(cmd, given[0], base, contentType)
			if err != nil {
				return err
			}
			if !parse.IsHTML(parse.MediaType(parse.ContentType(in.Header), in.Body)) {
				return nil // what is not HTML has none
			}
			p := parse.HTML(in)
			return a.lines().Encode(pageFacts{
				p.Charset, p.Title, p.Description, p.Heading, p.Lang, p.Canonical, p.Base, p.Robots, p.NoFollow, p.Alternates, len(p.Links),
			})
		},
	}
	cmd.Flags().StringVar(&base, "base", "", "address of the page; of a URL, the URL itself")
	cmd.Flags().StringVar(&contentType, "content-type", "", "its Content-Type; missing, it is guessed from the content")
	return cmd
}
