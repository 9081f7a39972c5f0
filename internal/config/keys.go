package config

import "strings"

// Key describes a setting for documentation and completion.
type Key struct {
	Name     string   // in a file; empty when only a flag has it
	Flag     string   // without dashes; empty when only a file has it
	Short    string   // one letter, or empty
	Alias    string   // another name of the flag, or empty
	Variable string   // in the environment; empty when no variable has it
	Type     string   // the word for its values: time, size, count
	Values   []string // all values it can have; nil where the list is open
	Default  string   // as in a file; elements of a list separated by blanks
	Text     string   // what it means
	Fixed    bool     // a resumed crawl cannot change it
}

// Keys returns all settings in the order of a rendered file.
func Keys() []Key {
	defaults := Default()
	var keys []Key
	for i := range table {
		d := &table[i]
		at := d.at(&defaults)
		k := Key{
			Name: d.key, Flag: d.flag(), Short: d.short, Alias: d.alias, Variable: d.variable(),
			Type: at.Type(), Values: at.choices(), Default: strings.Join(at.texts(), " "),
			Text: d.explanation(), Fixed: d.fixed != "",
		}
		if d.flagOnly {
			k.Name = ""
		}
		if d.fileOnly {
			k.Flag = ""
		}
		if !d.inEnvironment() {
			k.Variable = ""
		}
		keys = append(keys, k)
	}
	return keys
}
