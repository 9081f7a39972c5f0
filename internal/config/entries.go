package config

import (
	"iter"
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// entries is the slot of a list whose elements are mappings, so only a file can hold it.
type entries[T any] struct {
	ordinary
	v    *[]T
	keys func(*T) []entryKey
	name func(*T) string // what an error calls an element
}

// entryKey is one key of an element and its place in it. A place without texts is not set.
type entryKey struct {
	key   string
	at    slot
	check func() (want string) // the range as text when the value is outside; nil accepts all
}

// entryList is entries of any type.
type entryList interface {
	slot
	// add appends an element and returns its keys, which are good until the next.
	add() []entryKey
	// all goes through the keys of each element.
	all() iter.Seq[[]entryKey]
}

func (entries[T]) put(text string) error { return bad("entries in a file", text) }
func (entries[T]) Type() string          { return "entries" }
func (e entries[T]) clear()              { *e.v = nil }
func (entries[T]) isList() bool          { return true }

// texts names the elements.
func (e entries[T]) texts() []string {
	var names []string
	for i := range *e.v {
		names = append(names, e.name(&(*e.v)[i]))
	}
	return names
}

func (e entries[T]) add() []entryKey {
	var element T
	*e.v = append(*e.v, element)
	return e.keys(&(*e.v)[len(*e.v)-1])
}

func (e entries[T]) all() iter.Seq[[]entryKey] {
	return func(yield func([]entryKey) bool) {
		for i := range *e.v {
			if !yield(e.keys(&(*e.v)[i])) {
				return
			}
		}
	}
}

// entryMap is the slot of a mapping whose values are mappings, under names of a closed list.
type entryMap interface {
	slot
	names() []string
	// at returns the keys of the element of that name, a new one if need be. They are good until the next call.
	at(name string) []entryKey
	// all goes through the elements.
	all() iter.Seq2[string, []entryKey]
}

// named reads a mapping of mappings, which starts at the token. ok is false when a problem was reported.
func (f *file) named(d *setting, to entryMap, node ast.Node, at *token.Token) (ok bool) {
	to.clear()
	before := len(f.problems)
	f.mapping(d.key, node, func(name string, nameAt *token.Token, value ast.Node) {
		if !slices.Contains(to.names(), name) {
			f.unknown(d.key, name, nameAt, nearest(plainKey(name), to.names()))
			return
		}
		if _, null := value.(*ast.NullNode); null { // which may stand nowhere
			f.fail(d.key, nameAt, "want a mapping of keys to values for "+name+", got nothing")
			return
		}
		keys := to.at(name)
		f.mapping(d.key, value, func(key string, keyAt *token.Token, value ast.Node) {
			f.entryKey(d, keys, key, keyAt, value)
		})
	})
	return len(f.problems) == before
}

// entries reads a list of mappings, which starts at the token. ok is false when a problem was reported.
func (f *file) entries(d *setting, to entryList, node ast.Node, at *token.Token) (ok bool) {
	list, isList := node.(*ast.SequenceNode)
	if !isList {
		f.fail(d.key, at, "want a list, got "+describe(node))
		return false
	}
	to.clear()
	before := len(f.problems)
	for _, n := range list.Values {
		keys := to.add()
		f.mapping(d.key, n, func(name string, nameAt *token.Token, value ast.Node) {
			f.entryKey(d, keys, name, nameAt, value)
		})
	}
	return len(f.problems) == before
}

// entryKey reads one key of an element.
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
	k := keys[i]
	if k.at.isList() {
		f.entryList(d, k, value)
		return
	}
	text, ok := scalar(value)
	if _, null := value.(*ast.NullNode); !null { // which may stand nowhere
		at = value.GetToken()
	} else if k.at.isOptional() {
		text, ok = unset, true
	}
	if !ok {
		f.fail(d.key, at, "want a single value for "+name+", got "+describe(value))
		return
	}
	if err := k.at.put(text); err != nil {
		f.refuse(d.key, at, name, err)
		return
	}
	if want := k.wanted(); want != "" {
		f.fail(d.key, at, name+": "+(&badValue{want: want, got: text}).Error())
	}
}

// entryList reads a key of an element that is a list.
func (f *file) entryList(d *setting, k entryKey, value ast.Node) {
	nodes, _ := f.elements(d.key, k.at, value, value.GetToken())
	k.at.clear()
	for _, n := range nodes {
		text, ok := text(k.at, n)
		if !ok {
			f.fail(d.key, n.GetToken(), "want a single value for each of "+k.key+", got "+describe(n))
			continue
		}
		if err := k.at.put(text); err != nil {
			f.refuse(d.key, n.GetToken(), k.key, err)
		}
	}
}

// refuse reports that a key of an element has a value that is none.
func (f *file) refuse(key string, at *token.Token, name string, err error) {
	place, quote := f.locate(at)
	f.problems = append(f.problems, &Error{Key: key, Place: place, Problem: name + ": " + err.Error(), Excerpt: shown(err, quote)})
}

// wanted returns what the value should be when it is out of its range, and "" when it is fine.
func (k *entryKey) wanted() string {
	if k.check == nil {
		return ""
	}
	return k.check()
}
