package config

import (
	"fmt"

	"github.com/andybalholm/cascadia"
)

// extractFields is the slot of the fields to extract.
func extractFields(v *[]Extract) slot {
	return entries[Extract]{v: v, keys: (*Extract).keys, name: func(e *Extract) string { return e.Field }}
}

// keys lists what an entry may have, in the order of a rendered file.
func (e *Extract) keys() []entryKey {
	return []entryKey{
		{key: "field", at: word{v: &e.Field}},
		{key: "selector", at: selector{word{v: &e.Selector}}},
		{key: "attr", at: word{v: &e.Attr}},
		{key: "html", at: onOff{v: &e.HTML}},
		{key: "all", at: onOff{v: &e.All}},
		{key: "pages", at: pagePattern{word{v: &e.Pages}}},
	}
}

// selector is the slot of a CSS selector, or several with commas between them.
type selector struct{ word }

func (s selector) put(text string) error {
	if _, err := cascadia.Compile(text); err != nil {
		return bad("a CSS selector ("+err.Error()+")", text)
	}
	return s.word.put(text)
}

// pagePattern is the slot of a regular expression that may be left out.
type pagePattern struct{ word }

func (p pagePattern) put(text string) error {
	if text == "" {
		return p.word.put(text)
	}
	if _, err := Pattern("").parse(text); err != nil {
		return err
	}
	return p.word.put(text)
}

// sound returns what is wanted of a list of fields when an entry lacks something or two give the same field.
func sound(entries []Extract) string {
	met := map[string]bool{}
	for i, e := range entries {
		switch {
		case e.Field == "" || e.Selector == "":
			return fmt.Sprintf("field and selector in each entry (entry %d lacks one)", i+1)
		case e.Attr != "" && e.HTML:
			return fmt.Sprintf("attr or html in an entry (entry %d has both)", i+1)
		case met[e.Field]:
			return fmt.Sprintf("each field once (entry %d repeats one)", i+1)
		case !printable(e.Field + e.Selector + e.Attr):
			return fmt.Sprintf("no control characters (entry %d has one)", i+1)
		}
		met[e.Field] = true
	}
	return ""
}
