package config

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// extracts is the slot of the list of fields to extract. Its elements are mappings, so only a file can hold them.
type extracts struct {
	ordinary
	v *[]Extract
}

func (extracts) put(text string) error { return bad("entries in a file", text) }
func (extracts) Type() string          { return "entries" }
func (e extracts) clear()              { *e.v = nil }
func (extracts) isList() bool          { return true }

// texts names the fields.
func (e extracts) texts() []string {
	var names []string
	for _, entry := range *e.v {
		names = append(names, entry.Field)
	}
	return names
}

// entryKey is one key of an entry and its place in it.
type entryKey struct {
	key string
	at  slot
}

// keys lists what an entry may have, in the order of a rendered file.
func (e *Extract) keys() []entryKey {
	return []entryKey{
		{"field", word{v: &e.Field}},
		{"selector", word{v: &e.Selector}},
		{"attr", word{v: &e.Attr}},
		{"all", onOff{v: &e.All}},
	}
}

// entries reads the list of fields to extract, which starts at the token. ok is false when a problem was reported.
func (f *file) entries(d *setting, to extracts, node ast.Node, at *token.Token) (ok bool) {
	list, isList := node.(*ast.SequenceNode)
	if !isList {
		f.fail(d.key, at, "want a list, got "+describe(node))
		return false
	}
	to.clear()
	before := len(f.problems)
	for _, n := range list.Values {
		var entry Extract
		f.mapping(d.key, n, func(name string, nameAt *token.Token, value ast.Node) {
			f.entryKey(d, entry.keys(), name, nameAt, value)
		})
		*to.v = append(*to.v, entry)
	}
	return len(f.problems) == before
}

// entryKey reads one key of an entry.
func (f *file) entryKey(d *setting, keys []entryKey, name string, at *token.Token, value ast.Node) {
	i := slices.IndexFunc(keys, func(k entryKey) bool { return k.key == name })
	if i < 0 {
		var known []string
		for _, k := range keys {
			known = append(known, k.key)
		}
		f.unknown(d.key, name, at, nearest(plainKey(name), known))
		return
	}
	text, ok := scalar(value)
	if !ok {
		f.fail(d.key, value.GetToken(), "want a single value for "+name+", got "+describe(value))
		return
	}
	if err := keys[i].at.put(text); err != nil {
		f.fail(d.key, value.GetToken(), name+": "+err.Error())
	}
}

// sound returns what is wanted of a list of fields when an entry lacks something or two give the same field.
func sound(entries []Extract) string {
	met := map[string]bool{}
	for i, e := range entries {
		switch {
		case e.Field == "" || e.Selector == "":
			return fmt.Sprintf("field and selector in each entry (entry %d lacks one)", i+1)
		case met[e.Field]:
			return fmt.Sprintf("each field once (entry %d repeats one)", i+1)
		case !printable(e.Field + e.Selector + e.Attr):
			return fmt.Sprintf("no control characters (entry %d has one)", i+1)
		}
		met[e.Field] = true
	}
	return ""
}
