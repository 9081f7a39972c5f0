package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"crawl/canon"
	"crawl/crawler"
	"crawl/fetch"
	"crawl/internal/config"
	"crawl/internal/parse"
)

func (a *app) inspectCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inspect",
		Short: "Show what the crawler would make of an input, one JSON object a line",
		Args:  args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.inspectURLCommand(), a.inspectLinksCommand(), a.inspectRobotsCommand(), a.inspectPageCommand(),
		a.inspectSitemapCommand(), a.inspectScopeCommand())
	return cmd
}

// lines writes one JSON object a line.
func (a *app) lines() *json.Encoder {
	out := json.NewEncoder(a.stdout)
	out.SetEscapeHTML(false) // URLs are to be read
	return out
}

// urlFacts is a line of `inspect url`.
type urlFacts struct {
	In    string   `json:"in"`
	URL   string   `json:"url,omitempty"`       // what is requested
	Key   string   `json:"key,omitempty"`       // what is remembered
	Host  string   `json:"host,omitempty"`      // whose queue and delay
	Rules string   `json:"rules"`               // the set of rules that made the key
	By    []string `json:"same_page,omitempty"` // the rules of same_page that changed it
	Error string   `json:"error,omitempty"`
}

func (a *app) inspectURLCommand() *cobra.Command {
	var base, file string
	cmd := &cobra.Command{
		Use:   "url [--base URL] [--config FILE] URL...",
		Short: "Show how URLs are requested and remembered",
		Args:  args(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, given []string) error {
			from, err := parseBase(base)
			if err != nil {
				return err
			}
			out := a.lines()
			rules, err := namesBy(file)
			if err != nil {
				return err
			}
			for _, in := range given {
				facts := urlFacts{In: in, Rules: rules.Version()}
				if u, err := rules.Parse(from, in); err != nil {
					facts.Error = err.Error()
				} else {
					key, by := rules.Apply(u)
					facts.URL, facts.Key, facts.Host, facts.By = u.String(), key, u.Host(), by.Names()
				}
				if err := out.Encode(facts); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&base, "base", "", "URL that references are resolved against")
	cmd.Flags().StringVar(&file, "config", "", "settings whose same_page says which URLs are one page")
	return cmd
}

// namesBy returns the rules for names that a file of settings asks for; no file, the safe rules.
func namesBy(file string) (*canon.Rules, error) {
	if file == "" {
		return nil, nil
	}
	settings, err := config.Load(file, os.Environ(), nil)
	if err != nil {
		return nil, &usageError{err}
	}
	return canon.NewRules(policies(settings.SamePage)...)
}

func parseBase(base string) (canon.URL, error) {
	if base == "" {
		return canon.URL{}, nil
	}
	u, err := canon.Parse(base)
	if err != nil {
		return u, usagef("--base: %w", err)
	}
	return u, nil
}

// linkFacts is a line of `inspect links`.
type linkFacts struct {
	URL      string `json:"url"`
	Source   string `json:"source"`
	NoFollow bool   `json:"nofollow"`
}

func (a *app) inspectLinksCommand() *cobra.Command {
	var base, contentType string
	cmd := &cobra.Command{
		Use:   "links --base URL [--content-type CT] FILE|-|URL",
		Short: "Show the links of a page",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			in, err := a.pageInput(cmd, given[0], base, contentType)
			if err != nil {
				return err
			}
			out := a.lines()
			for _, l := range linksOf(in) {
				if err := out.Encode(linkFacts{l.URL.String(), l.Source.String(), l.NoFollow}); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&base, "base", "", "address of the page; of a URL, the URL itself")
	cmd.Flags().StringVar(&contentType, "content-type", "", "its Content-Type; missing, it is guessed from the content")
	return cmd
}

// linksOf returns all links of a page or a style sheet, those included that a crawl follows with --requisites alone.
func linksOf(in parse.Input) []parse.Link {
	in.Styles = true
	var parser parse.Parser
	var page parse.Page
	switch mediaType := parse.MediaType(parse.ContentType(in.Header), in.Body); {
	case parse.IsHTML(mediaType):
		parser.HTML(in, &page)
	case parse.IsStyleSheet(mediaType):
		parser.StyleSheet(in, &page)
	}
	return page.Links
}

// pageInput reads a page from a file, standard input, or the web.
func (a *app) pageInput(cmd *cobra.Command, from, base, contentType string) (parse.Input, error) {
	if strings.Contains(from, "://") {
		return a.fetchPage(cmd, from)
	}
	u, err := parseBase(base)
	if err != nil {
		return parse.Input{}, err
	}
	if u.IsZero() {
		return parse.Input{}, usagef("--base: want the page's address: a file does not know it")
	}
	body, err := a.readAll(from)
	if err != nil {
		return parse.Input{}, err
	}
	header := http.Header{}
	if contentType != "" {
		header.Set("Content-Type", contentType)
	}
	return parse.Input{URL: u, Header: header, Body: body}, nil
}

func (a *app) readAll(file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(a.stdin)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, &usageError{err}
	}
	return data, nil
}

// fetchPage makes the one request that a crawl would make. Like a seed, a literal address opens itself.
func (a *app) fetchPage(cmd *cobra.Command, from string) (parse.Input, error) {
	u, err := canon.Parse(from)
	if err != nil {
		return parse.Input{}, &usageError{err}
	}
	cfg := fetchConfig(config.Default())
	cfg.AllowPrivate = crawler.OpenedBy(u)
	client, err := fetch.New(cfg)
	if err != nil {
		return parse.Input{}, err
	}
	defer client.Close()
	result, err := client.Fetch(cmd.Context(), fetch.Request{URL: u})
	if err != nil {
		return parse.Input{}, err
	}
	return parse.Input{URL: u, Header: result.Header, Body: result.Body}, nil
}

// robotsFacts is a line of `inspect robots`.
type robotsFacts struct {
	URL        string   `json:"url"`
	Allowed    bool     `json:"allowed"`
	Line       int      `json:"line"` // 0: no line decided
	Rule       string   `json:"rule"`
	CrawlDelay *float64 `json:"crawl_delay"` // seconds
	Error      string   `json:"error,omitempty"`
}

func (a *app) inspectRobotsCommand() *cobra.Command {
	var agent, file string
	cmd := &cobra.Command{
		Use:   "robots --agent NAME --robots FILE URL...",
		Short: "Show what a robots.txt allows, and which line says so",
		Args:  args(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, given []string) error {
			if file == "" {
				return usagef("--robots: want the file, or - for standard input")
			}
			data, err := a.readAll(file)
			if err != nil {
				return err
			}
			rules, err := fetch.ParseRobots(strings.NewReader(string(data)), agent)
			if err != nil {
				return err
			}
			out := a.lines()
			for _, in := range given {
				if err := out.Encode(robotsFactsOf(rules, in)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&agent, "agent", "crawl", "product token whose rules are asked for")
	cmd.Flags().StringVar(&file, "robots", "", "the robots.txt, - for standard input")
	return cmd
}

func robotsFactsOf(rules *fetch.Robots, in string) robotsFacts {
	facts := robotsFacts{URL: in}
	if delay, ok := rules.CrawlDelay(); ok {
		seconds := delay.Seconds()
		facts.CrawlDelay = &seconds
	}
	u, err := canon.Parse(in)
	if err != nil {
		facts.Error = err.Error()
		return facts
	}
	decision := rules.Test(u)
	facts.Allowed, facts.Line, facts.Rule = decision.Allowed, decision.Line, decision.Rule
	return facts
}
