package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"crawl/frontier"
	"crawl/store"
)

// export is what a crawl's data is written as, and where.
type export struct {
	format, file           string
	refused, pending, done bool
	rule, reason           string
}

func (a *app) exportCommand() *cobra.Command {
	var e export
	cmd := &cobra.Command{
		Use:   "export [DIR] urls [--pending | --done | --refused [--rule RULE] [--reason REASON]]",
		Short: "Write what a crawl knows as a file for other programs",
		Long: `Write the URLs of a crawl, running or not, as its last checkpoint holds them: all that it has admitted, in their order, or those
that are pending, or done.

--refused writes links that rules kept out: the URL, the rule and the reason, and the first page that was met with it. Of each rule
and host up to 1,000 are listed, of all up to keep_refused; crawl stats --rules counts them all, and says how many are not
listed. What a rule should not have refused is added by hand:

    crawl export urls --refused --rule calendar --format txt | crawl add -`,
		RunE: func(cmd *cobra.Command, given []string) error {
			dir, what, err := dirAmong(given)
			switch {
			case err != nil:
				return err
			case len(what) != 1 || what[0] != "urls":
				return usagef("export: want what to export: urls")
			}
			if err := e.check(); err != nil {
				return err
			}
			return explain(a.export(cmd.Context(), dir, &e), dir)
		},
	}
	cmd.Flags().StringVar(&e.format, "format", "jsonl", "jsonl, csv, or txt: the URLs alone, one a line")
	cmd.Flags().StringVarP(&e.file, "output", "o", "-", "`FILE` to write; - is standard output")
	cmd.Flags().BoolVar(&e.pending, "pending", false, "only URLs that are to be fetched")
	cmd.Flags().BoolVar(&e.done, "done", false, "only URLs that were")
	cmd.Flags().BoolVar(&e.refused, "refused", false, "links that rules refused, in place of URLs that were admitted")
	cmd.Flags().StringVar(&e.rule, "rule", "", "only those that this `RULE` refused")
	cmd.Flags().StringVar(&e.reason, "reason", "", "only those counted under this `REASON`: out_of_scope, too_deep, nofollow, trap, denied")
	return cmd
}

func (e *export) check() error {
	selected := 0
	for _, on := range []bool{e.pending, e.done, e.refused} {
		if on {
			selected++
		}
	}
	switch {
	case selected > 1:
		return usagef("export: want one of --pending, --done and --refused")
	case !e.refused && e.rule+e.reason != "":
		return usagef("export: --rule and --reason select among --refused")
	case e.format != "jsonl" && e.format != "csv" && e.format != "txt":
		return usagef("--format: want jsonl, csv or txt, got %q", e.format)
	}
	return nil
}

// export writes what e asks for.
func (a *app) export(ctx context.Context, dir string, e *export) (err error) {
	reader, err := store.OpenReader(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	out := io.Writer(a.stdout)
	if e.file != "-" {
		f, err := os.Create(e.file)
		if err != nil {
			return &usageError{err}
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	if e.refused {
		return writeAll(newTable(out, e.format, refusedColumns), e.refusedOf(ctx, reader), refusedRow)
	}
	return writeAll(newTable(out, e.format, urlColumns), e.urlsOf(ctx, reader), urlRow)
}

func (e *export) refusedOf(ctx context.Context, reader *store.Reader) iter.Seq2[*store.Refused, error] {
	return func(yield func(*store.Refused, error) bool) {
		for link, err := range reader.Refused(ctx) {
			if err == nil && (e.rule != "" && link.Rule != e.rule || e.reason != "" && link.Reason != e.reason) {
				continue
			}
			if !yield(link, err) {
				return
			}
		}
	}
}

var refusedColumns = []string{"url", "reason", "rule", "from", "referrer", "depth", "at"}

func refusedRow(r *store.Refused) []string {
	return []string{r.URL, r.Reason, r.Rule, r.From, strconv.FormatUint(r.Referrer, 10), strconv.Itoa(r.Depth), r.At.Format("2006-01-02T15:04:05Z07:00")}
}

// urlLine is a URL as `export urls` writes it.
type urlLine struct {
	Seq      uint64 `json:"seq"`
	URL      string `json:"url"`
	State    string `json:"state"` // pending or done
	Class    string `json:"class"`
	Depth    uint32 `json:"depth"`
	Referrer uint64 `json:"referrer"` // number of the page that led to it; 0: none
}

var urlColumns = []string{"url", "seq", "state", "class", "depth", "referrer"}

func urlRow(u *urlLine) []string {
	return []string{u.URL, strconv.FormatUint(u.Seq, 10), u.State, u.Class, strconv.FormatUint(uint64(u.Depth), 10), strconv.FormatUint(u.Referrer, 10)}
}

func (e *export) urlsOf(ctx context.Context, reader *store.Reader) iter.Seq2[*urlLine, error] {
	return func(yield func(*urlLine, error) bool) {
		for u, err := range reader.URLs(ctx) {
			if err == nil && (e.done && !u.Done || e.pending && u.Done) {
				continue
			}
			line := &urlLine{u.Seq, u.URL, "pending", frontier.Class(u.Class).String(), u.Depth, u.From}
			if u.Done {
				line.State = "done"
			}
			if !yield(line, err) {
				return
			}
		}
	}
}

// exportTable writes lines in a format. The first column is the URL.
type exportTable struct {
	json *json.Encoder
	csv  *csv.Writer
	txt  io.Writer
}

func newTable(out io.Writer, format string, columns []string) *exportTable {
	switch format {
	case "csv":
		t := &exportTable{csv: csv.NewWriter(out)}
		_ = t.csv.Write(columns) // writeAll sees the error
		return t
	case "txt":
		return &exportTable{txt: out}
	}
	t := &exportTable{json: json.NewEncoder(out)}
	t.json.SetEscapeHTML(false)
	return t
}

func (t *exportTable) write(line any, row []string) error {
	switch {
	case t.csv != nil:
		return t.csv.Write(row)
	case t.txt != nil:
		_, err := io.WriteString(t.txt, row[0]+"\n")
		return err
	}
	return t.json.Encode(line)
}

// writeAll writes lines until their end or an error.
func writeAll[T any](t *exportTable, lines iter.Seq2[*T, error], row func(*T) []string) error {
	for line, err := range lines {
		if err != nil {
			return err
		}
		if err := t.write(line, row(line)); err != nil {
			return err
		}
	}
	if t.csv == nil {
		return nil
	}
	t.csv.Flush()
	return t.csv.Error()
}
