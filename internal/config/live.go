package config

import (
	"maps"
	"slices"

	"github.com/spf13/pflag"
)

// Changes are texts for settings of a crawl that runs, by key, as flags or a program gave them.
type Changes map[string][]string

// RegisterLive adds the flags of the settings that can change while a crawl runs. They show no defaults: what is not given
// stays as it is. GivenLive returns what was given.
func RegisterLive(fs *pflag.FlagSet) {
	for i := range table {
		if d := &table[i]; d.live {
			value := newFlagTexts(d.at(new(Settings)))
			value.initial = ""
			d.register(fs, value)
		}
	}
}

// GivenLive returns what was given of the flags that RegisterLive added.
func GivenLive(fs *pflag.FlagSet) Changes {
	given := Changes{}
	for i := range table {
		d := &table[i]
		flag := fs.Lookup(d.flag())
		if flag == nil || !d.live {
			continue
		}
		if value, ours := flag.Value.(*flagTexts); ours && len(value.texts) > 0 {
			given[d.key] = value.texts
		}
	}
	return given
}

// Flags returns the flags that stand for the changes.
func (c Changes) Flags() []string {
	var names []string
	for i := range table {
		if _, given := c[table[i].key]; given {
			names = append(names, "--"+table[i].flag())
		}
	}
	return names
}

// Changed is a setting that a change has given another value.
type Changed struct {
	Key  string `json:"key"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Change returns the settings with changes made to them, and which those were, in the order of a file. A key that no
// crawl can change while it runs is an *Error, as is a text that is no value of its setting.
func (s Settings) Change(to Changes) (Settings, []Changed, error) {
	l := newLoader()
	l.settings = s
	left := maps.Clone(to)
	var changed []Changed
	for i := range table {
		d := &table[i]
		texts, given := left[d.key]
		if !given || !d.live {
			continue
		}
		delete(left, d.key)
		place := "--" + d.flag()
		was := d.at(&l.settings).texts()
		var items []item
		for _, text := range texts {
			items = append(items, item{text: text, place: place})
		}
		l.apply(d, origin{place: place}, items)
		if is := d.at(&l.settings).texts(); !slices.Equal(was, is) {
			changed = append(changed, Changed{d.key, was[0], is[0]})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(left)) {
		l.problems = append(l.problems, &Error{Key: key, Problem: "cannot change while a crawl runs"})
	}
	l.judge()
	settings, err := l.result()
	if err != nil {
		return Settings{}, nil, err
	}
	return settings, changed, nil
}
