package config

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Render writes the settings in force as a YAML file with comments. Loaded again, without environment and flags, it
// gives the same settings, but for those that say how one run talks.
func (s *Settings) Render(w io.Writer) error {
	var b bytes.Buffer
	comment(&b, "The settings of a crawl. "+rule)
	s.body(&b)
	_, err := w.Write(b.Bytes())
	return err
}

// Template returns the commented configuration file that a user starts from: every key with its default.
func Template() []byte {
	var b bytes.Buffer
	comment(&b, "Settings of crawl, each with its default: change what you like, leave out what you do not.")
	b.WriteString("#\n")
	comment(&b, rule)
	b.WriteString("#\n")
	comment(&b, "Times are 10s, 1m30s or 0; sizes 512Mi (2^20 bytes), 10M (10^6) or plain bytes; counts 500, 200k or 1.5M. "+
		"none is no limit, 0 is zero. A list is written [a, b] or one element a line; as a flag it is given once for each "+
		"element, in a variable blanks separate them. Text with special characters stands in single quotes.")
	s := Default()
	s.body(&b)
	return b.Bytes()
}

// rule says how the names go together and which source goes over which.
const rule = "host_delay here is --host-delay on the command line and CRAWL_HOST_DELAY in the environment. " +
	"A flag goes over the environment, that over this file, that over the default."

// body writes all settings.
func (s *Settings) body(b *bytes.Buffer) {
	section := ""
	for i := range table {
		d := &table[i]
		if d.section != section {
			section = d.section
			b.WriteString("\n")
			comment(b, "---- "+section+" ----")
		}
		b.WriteString("\n")
		comment(b, d.explanation())
		for line := range strings.Lines(d.example) {
			b.WriteString("#   " + line)
		}
		d.entry(b, s)
	}
}

// explanation is the comment over a setting.
func (d *setting) explanation() string {
	text := strings.ToUpper(d.usage[:1]) + d.usage[1:]
	if choices := d.at(new(Settings)).choices(); choices != nil {
		text += ": " + strings.Join(choices, ", ")
	}
	text += "."
	if d.note != "" {
		text += " " + d.note
	}
	return text
}

// entry writes a setting's key and value.
func (d *setting) entry(b *bytes.Buffer, s *Settings) {
	at := d.at(s)
	texts := at.texts()
	switch elements := at.(type) {
	case entryMap:
		named(b, d.key, elements)
		return
	case scopeSlot:
		elements.render(b, d.key)
		return
	}
	switch list, isEntries := at.(entryList); {
	case at.isList() && len(texts) == 0:
		fmt.Fprintf(b, "%s: []\n", d.key)
	case isEntries:
		fmt.Fprintf(b, "%s:\n", d.key)
		for keys := range list.all() {
			element(b, keys)
		}
	case at.isList():
		fmt.Fprintf(b, "%s:\n", d.key)
		for _, text := range texts {
			fmt.Fprintf(b, "  - %s\n", quote(text))
		}
	default:
		fmt.Fprintf(b, "%s: %s\n", d.key, quote(texts[0]))
	}
}

// element writes a mapping as an element of a list, with the keys that are set.
func element(b *bytes.Buffer, keys []entryKey) {
	lead := "  - "
	for _, k := range keys {
		texts := k.at.texts()
		switch {
		case len(texts) == 0:
			continue
		case k.at.isList():
			fmt.Fprintf(b, "%s%s:\n", lead, k.key)
			for _, text := range texts {
				fmt.Fprintf(b, "      - %s\n", quote(text))
			}
		default:
			fmt.Fprintf(b, "%s%s: %s\n", lead, k.key, quote(texts[0]))
		}
		lead = "    "
	}
}

// named writes a mapping of mappings, each with the keys that are set.
func named(b *bytes.Buffer, key string, elements entryMap) {
	if len(elements.texts()) == 0 {
		fmt.Fprintf(b, "%s: {}\n", key)
		return
	}
	fmt.Fprintf(b, "%s:\n", key)
	for name, keys := range elements.all() {
		fmt.Fprintf(b, "  %s:\n", name)
		for _, k := range keys {
			for _, text := range k.at.texts() {
				fmt.Fprintf(b, "    %s: %s\n", k.key, quote(text))
			}
		}
	}
}

// plainText is what needs no quotes: a word that no reader of YAML takes for anything else than its text.
var plainText = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.%]*$`)

// quote writes a text for a YAML file. No setting holds control characters, so single quotes can hold them all.
func quote(text string) string {
	if plainText.MatchString(text) && text != "null" && text != "Null" && text != "NULL" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// commentWidth is where a comment's lines break, in bytes.
const commentWidth = 100

// comment writes text as lines that begin with #.
func comment(b *bytes.Buffer, text string) {
	line := "#"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > commentWidth {
			b.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}
