package config

import "github.com/spf13/pflag"

// Register adds the flags of all settings but those that only a file can hold. s gives the defaults that help shows. Parsing
// only notes the texts: Load reads them, so that what is wrong with flags is reported together with everything else.
func (s *Settings) Register(fs *pflag.FlagSet) {
	for i := range table {
		if d := &table[i]; !d.fileOnly {
			d.register(fs, newFlagTexts(d.at(s)))
		}
	}
}

// register adds the flag of a setting, whose texts go to value.
func (d *setting) register(fs *pflag.FlagSet, value *flagTexts) {
	flag := fs.VarPF(value, d.flag(), d.short, d.usage)
	flag.NoOptDefVal = d.bare
	if d.at(new(Settings)).isList() {
		flag.Usage += "; may be given again"
	}
	if d.alias != "" {
		alias := fs.VarPF(value, d.alias, "", "the same as --"+d.flag())
		alias.Hidden = true
		flag.Usage += "; --" + d.alias + " for short"
	}
}

// flagTexts is a flag as it was given, unread. The names of a flag share one.
type flagTexts struct {
	texts   []string
	initial string
	kind    string
}

func newFlagTexts(at slot) *flagTexts {
	f := &flagTexts{kind: at.Type()}
	if texts := at.texts(); len(texts) == 1 && !at.isList() {
		f.initial = texts[0]
	}
	return f
}

// Set implements pflag.Value.
func (f *flagTexts) Set(text string) error {
	f.texts = append(f.texts, text)
	return nil
}

// String implements pflag.Value: before Set it is the default that help shows.
func (f *flagTexts) String() string {
	if len(f.texts) == 0 {
		return f.initial
	}
	return f.texts[len(f.texts)-1]
}

// Type implements pflag.Value.
func (f *flagTexts) Type() string { return f.kind }

// flags reads the flags that were given. For a single value the last one holds, a list gets them all; an empty text
// empties a list, as in --exclude="".
func (l *loader) flags(fs *pflag.FlagSet) {
	if fs == nil {
		return
	}
	for i := range table {
		d := &table[i]
		flag := fs.Lookup(d.flag())
		if flag == nil {
			continue
		}
		given, ours := flag.Value.(*flagTexts)
		if !ours || len(given.texts) == 0 {
			continue
		}
		place := "--" + d.flag()
		var items []item
		for _, text := range given.texts {
			if text == "" && d.at(&l.settings).isList() {
				items = nil
				continue
			}
			items = append(items, item{text: text, place: place})
		}
		l.apply(d, origin{place: place}, items)
	}
}
