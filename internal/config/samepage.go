package config

import (
	"fmt"
	"strings"
)

// SamePage says which URLs of some hosts count as one page, although a server can tell them apart.
type SamePage struct {
	Pattern        *HostPattern // nil: every host
	DropParameters []Parameter
	DropSessionIDs bool
	SortParameters bool
	IndexFiles     []FileName
	Slash          bool // with and without one at the end of the path
	WWW            bool // with and without www.
	Schemes        bool // http and https
}

// samePages is the slot of what counts as one page.
func samePages(v *[]SamePage) slot {
	return entries[SamePage]{v: v, keys: (*SamePage).keys, name: func(p *SamePage) string { return string(p.Hosts()) }}
}

// keys lists what an entry may have, in the order of a rendered file.
func (p *SamePage) keys() []entryKey {
	return []entryKey{
		{key: "pattern", at: maybe(&p.Pattern)},
		{key: "drop_parameters", at: many(&p.DropParameters)},
		{key: "drop_session_ids", at: onOff{v: &p.DropSessionIDs}},
		{key: "sort_parameters", at: onOff{v: &p.SortParameters}},
		{key: "index_files", at: many(&p.IndexFiles)},
		{key: "slash", at: onOff{v: &p.Slash}},
		{key: "www", at: onOff{v: &p.WWW}},
		{key: "schemes", at: onOff{v: &p.Schemes}},
	}
}

// Hosts returns whose URLs it is for: * for those of every host.
func (p *SamePage) Hosts() HostPattern {
	if p.Pattern == nil {
		return "*"
	}
	return *p.Pattern
}

// says reports whether the entry has any URLs count as one page.
func (p *SamePage) says() bool {
	return len(p.DropParameters)+len(p.IndexFiles) > 0 || p.DropSessionIDs || p.SortParameters || p.Slash || p.WWW || p.Schemes
}

// soundPages returns what is wanted where an entry says nothing, or holds what no file could.
func soundPages(pages []SamePage) string {
	for i, p := range pages { // a copy of each, which put may write to
		if !p.says() {
			return fmt.Sprintf("what counts as one page in each entry, such as sort_parameters: true (entry %d says nothing)", i+1)
		}
		if want := soundEntry(p.keys()); want != "" {
			return fmt.Sprintf("%s (entry %d)", want, i+1)
		}
	}
	return ""
}

// Parameter is the name of a parameter in a query. One that ends in a star stands for all names that begin so.
type Parameter string

func (Parameter) parse(text string) (Parameter, error) {
	name := strings.TrimSuffix(text, "*")
	if name == "" || !printable(name) || strings.ContainsAny(name, "&=?# *") {
		return "", bad("the name of a parameter, or the start of one and a star, such as utm_*", text)
	}
	return Parameter(text), nil
}

func (p Parameter) String() string { return string(p) }

// Type is the word that stands for a Parameter in a flag's help.
func (Parameter) Type() string { return "name" }

// FileName is the last part of a path.
type FileName string

func (FileName) parse(text string) (FileName, error) {
	if text == "" || !printable(text) || strings.ContainsAny(text, "/?# ") || text == "." || text == ".." {
		return "", bad("the name of a file, such as index.html", text)
	}
	return FileName(text), nil
}

func (f FileName) String() string { return string(f) }

// Type is the word that stands for a FileName in a flag's help.
func (FileName) Type() string { return "name" }
