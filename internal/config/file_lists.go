package config

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// pairs is a list whose elements may be written as a mapping too: what a plain "Name: value" is in YAML.
type pairs interface{ pairs() }

// elements returns the elements of a list, which starts at the token; ok is false where there is no list, which is
// reported then.
func (f *file) elements(key string, to slot, node ast.Node, at *token.Token) (nodes []ast.Node, ok bool) {
	if _, can := to.(pairs); can {
		if m, isMapping := node.(ast.MapNode); isMapping {
			return mappingPairs(m), true
		}
	}
	list, isList := node.(*ast.SequenceNode)
	if !isList {
		f.fail(key, at, "want a list, got "+describe(node))
		return nil, false
	}
	if _, can := to.(pairs); !can {
		return list.Values, true
	}
	for _, n := range list.Values {
		if m, isMapping := n.(ast.MapNode); isMapping {
			nodes = append(nodes, mappingPairs(m)...)
			continue
		}
		nodes = append(nodes, n)
	}
	return nodes, true
}

// mappingPairs returns the entries of a mapping, each as a node.
func mappingPairs(m ast.MapNode) (nodes []ast.Node) {
	for entries := m.MapRange(); entries.Next(); {
		nodes = append(nodes, entries.KeyValue())
	}
	return nodes
}

// text returns the text of an element of a list.
func text(to slot, node ast.Node) (string, bool) {
	if pair, isPair := node.(*ast.MappingValueNode); isPair {
		if _, can := to.(pairs); can {
			value, ok := scalar(pair.Value)
			return pair.Key.GetToken().Value + ": " + value, ok
		}
	}
	return scalar(node)
}

// headers is the slot of a list of header fields.
type headers struct{ list[Header] }

func headerList(v *[]Header) slot { return headers{list[Header]{v: v}} }

func (headers) pairs() {}
