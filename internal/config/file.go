package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// files reads a YAML file; an empty name stands for none.
func (l *loader) files(name string) {
	if name == "" {
		return
	}
	data, err := readSmall(name)
	if err != nil {
		l.problems = append(l.problems, err)
		return
	}
	l.yaml(name, string(data))
}

// maxFileBytes is far more than settings take, and little enough to refuse a seed file given by mistake at once.
const maxFileBytes = 4 << 20

func readSmall(name string) ([]byte, error) {
	in, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxFileBytes+1))
	if err == nil && len(data) > maxFileBytes {
		err = &Error{Place: name, Problem: fmt.Sprintf("want a file of settings, got more than %v", Size(maxFileBytes))}
	}
	return data, err
}

// yaml reads the text of a file.
func (l *loader) yaml(name, text string) {
	// The parser counts a line end of two bytes twice in places, and takes a byte order mark for a key.
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	f := &file{loader: l, name: name, source: text}
	tree, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		f.syntax(err)
		return
	}
	if len(tree.Docs) > 1 {
		f.fail("", tree.Docs[1].Start, "want one document, got a second")
		return
	}
	for _, doc := range tree.Docs {
		if doc.Body != nil { // not only blank lines and comments
			f.mapping("", doc.Body, f.setting)
		}
	}
}

// file is a YAML file as it is read into a loader.
type file struct {
	*loader
	name, source string
}

// syntax reports what the parser refuses.
func (f *file) syntax(err error) {
	if e, ok := errors.AsType[yaml.Error](err); ok {
		f.fail("", e.GetToken(), e.GetMessage())
		return
	}
	f.problems = append(f.problems, &Error{Place: f.name, Problem: err.Error()})
}

// fail reports a problem at a token.
func (f *file) fail(key string, at *token.Token, problem string) {
	place, quote := f.locate(at)
	f.problems = append(f.problems, &Error{Key: key, Place: place, Problem: problem, Excerpt: quote})
}

// locate returns a token's place, and its line as an excerpt.
func (f *file) locate(at *token.Token) (place, quote string) {
	if at == nil || at.Position == nil {
		return f.name, ""
	}
	line, column := at.Position.Line, at.Position.Column
	return fmt.Sprintf("%s:%d:%d", f.name, line, column), excerpt(f.source, line, column)
}

// mapping calls read for each entry of a mapping.
func (f *file) mapping(key string, node ast.Node, read func(name string, at *token.Token, value ast.Node)) {
	m, ok := node.(ast.MapNode)
	if !ok {
		f.fail(key, node.GetToken(), "want a mapping of keys to values, got "+describe(node))
		return
	}
	for entries := m.MapRange(); entries.Next(); {
		name := entries.Key().GetToken()
		read(name.Value, name, entries.Value())
	}
}

// setting reads one entry of the file.
func (f *file) setting(name string, at *token.Token, value ast.Node) {
	i := slices.IndexFunc(table, func(d setting) bool { return d.key == name })
	if i < 0 {
		f.unknown("", name, at, likely(plainKey(name), func(*setting) bool { return true }))
		return
	}
	d := &table[i]
	if _, null := value.(*ast.NullNode); !null { // which may stand nowhere
		at = value.GetToken()
	}
	place, quote := f.locate(at)
	from := origin{place: place, excerpt: quote}
	switch slot := d.at(&f.settings).(type) {
	case entryList:
		from.broken = !f.entries(d, slot, value, at)
		f.origins[d.key] = from
	case scopeSlot:
		from.broken = !f.scopeRules(d, slot, value, at)
		f.origins[d.key] = from
	case entryMap:
		from.broken = !f.named(d, slot, value, at)
		f.origins[d.key] = from
	default:
		items, ok := f.items(d, slot, value, at)
		from.broken = !ok
		f.apply(d, from, items)
	}
}

// items returns the texts of a setting, whose value starts at the token. ok is false when one was not of the right
// form, which is reported then.
func (f *file) items(d *setting, to slot, node ast.Node, at *token.Token) (items []item, ok bool) {
	if !to.isList() {
		it, ok := f.item(d, to, node, at, to.isOptional())
		if !ok {
			return nil, false
		}
		return []item{it}, true
	}
	nodes, ok := f.elements(d.key, to, node, at)
	for _, n := range nodes {
		it, good := f.item(d, to, n, n.GetToken(), false)
		if !good {
			ok = false
			continue
		}
		items = append(items, it)
	}
	return items, ok
}

// item returns the text of a single value.
func (f *file) item(d *setting, to slot, node ast.Node, at *token.Token, optional bool) (it item, ok bool) {
	text, ok := text(to, node)
	if _, null := node.(*ast.NullNode); null && optional {
		text, ok = unset, true
	}
	if !ok {
		f.fail(d.key, at, "want a single value, got "+describe(node))
		return item{}, false
	}
	place, quote := f.locate(at)
	return item{text: text, place: place, excerpt: quote}, true
}

// unknown reports a key that nothing reads, and the one that may have been meant.
func (f *file) unknown(key, name string, at *token.Token, meant string) {
	problem := fmt.Sprintf("no key %.60q", name)
	if meant != "" {
		problem += "; the nearest is " + meant
	}
	f.fail(key, at, problem)
}

// plainKey writes a name as keys are written.
func plainKey(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "_") }

// scalar returns the text of a plain value as it stands in the file, so that each type reads it by its own rules: 0.10
// is not turned into 0.1, nor 1_000 into a number.
func scalar(node ast.Node) (text string, ok bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode: // a block of lines ends in a line end that is not meant
		return strings.TrimSuffix(n.Value.Value, "\n"), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return node.GetToken().Value, true
	}
	return "", false
}

// describe names what a node is, for an error.
func describe(node ast.Node) string {
	switch n := node.(type) {
	case *ast.NullNode:
		return "nothing"
	case *ast.SequenceNode:
		return "a list"
	case ast.MapNode:
		return "a mapping"
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		return "an anchor, alias or tag, none of which is read here"
	default:
		text, _ := scalar(n)
		return fmt.Sprintf("%.60q", text)
	}
}
