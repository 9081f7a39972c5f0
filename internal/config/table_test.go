package config

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Each field of Settings is in the table once, under the word that its name makes.
func TestTableCoversSettings(t *testing.T) {
	var s Settings
	at := map[uintptr]string{}
	for i := range table {
		// Every slot keeps a pointer to its field as v.
		at[reflect.ValueOf(table[i].at(&s)).FieldByName("v").Pointer()] = table[i].key
	}
	fields := reflect.ValueOf(&s).Elem()
	for i := range fields.NumField() {
		name := fields.Type().Field(i).Name
		if name == "ScopeRules" { // scope in a file has them behind a ready name
			continue
		}
		if got, want := at[fields.Field(i).Addr().Pointer()], snake(name); got != want {
			t.Errorf("field %s has the key %q, want %q", name, got, want)
		}
	}
	if len(table) != fields.NumField()-1 {
		t.Errorf("the table has %d settings, Settings has %d fields that have one", len(table), fields.NumField()-1)
	}
}

func snake(name string) string {
	words := regexp.MustCompile(`([a-z])([A-Z])|([A-Z])([A-Z][a-z])`).ReplaceAllString(name, "${1}${3}_$2$4")
	return strings.ToLower(words)
}

func TestDefaultIsValid(t *testing.T) {
	s := Default()
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
}

// Every setting has a flag unless it is for files alone, with its default shown, and its other names.
func TestRegister(t *testing.T) {
	s := Default()
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	s.Register(fs)
	for _, tt := range []struct{ flag, short, kind, initial, bare string }{
		{"host-delay", "", "time", "1s", ""},
		{"delay", "", "time", "1s", ""},
		{"user-agent", "A", "name", "crawl/{version}", ""},
		{"insecure", "k", "bool", "false", "true"},
		{"allow-private", "", "name", "", "all"},
		{"scope", "", "host|domain|prefix|any", "host", ""},
		{"max-pages", "", "count", "none", ""},
	} {
		f := fs.Lookup(tt.flag)
		if f == nil {
			t.Errorf("no flag --%s", tt.flag)
			continue
		}
		got := []string{f.Shorthand, f.Value.Type(), f.DefValue, f.NoOptDefVal}
		if want := []string{tt.short, tt.kind, tt.initial, tt.bare}; !reflect.DeepEqual(got, want) {
			t.Errorf("--%s is %q, want %q", tt.flag, got, want)
		}
	}
	if fs.Lookup("extract") != nil {
		t.Error("--extract exists, and can have no value")
	}
	for i := range table {
		if d := &table[i]; !d.fileOnly && fs.Lookup(d.flag()) == nil {
			t.Errorf("no flag --%s", d.flag())
		}
	}
}
