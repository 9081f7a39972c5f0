package store

import (
	"strings"
	"testing"
)

func TestEncodePage(t *testing.T) {
	p := Page{Record: 99, Seq: 7, URL: "https://a.example/?a=1&b=<2>", Outcome: OutcomeOK, Title: `,"seq":1`}
	encoded, err := EncodePage(&p)
	want := `,"seq":7,"visit":0,"url":"https://a.example/?a=1&b=<2>","outcome":"ok",`
	if err != nil || !strings.HasPrefix(string(encoded), want) || !strings.HasSuffix(string(encoded), "}\n") {
		t.Errorf("encoded as %s, %v", encoded, err)
	}
	if p.Record != 99 {
		t.Error("encoding changes the page")
	}
	for name, bad := range map[string]*Page{
		"no JSON form": {Extract: map[string]any{"f": func() {}}},
		"too long":     {Title: strings.Repeat("x", maxRecordBytes)}, // takes a moment
	} {
		if _, err := EncodePage(bad); err == nil {
			t.Errorf("%s: it is encoded", name)
		}
	}
	s := create(t, Config{})
	for _, bad := range []EncodedPage{nil, {}, EncodedPage(`{"record":1}`), EncodedPage(",\"seq\":7}")} {
		if record, err := s.Pages.Append(bad); err == nil {
			t.Errorf("%q became record %d", bad, record)
		}
	}
	if s.Pages.Records() != 0 {
		t.Errorf("%d records", s.Pages.Records())
	}
}

func TestOutcomeNames(t *testing.T) {
	for i, o := range Outcomes() {
		text, err := o.MarshalText()
		var back Outcome
		if err != nil || int(o) != i+1 || back.UnmarshalText(text) != nil || back != o || string(text) == "" {
			t.Errorf("outcome %d is %q, which is %d", o, text, back)
		}
	}
	var o Outcome
	for _, bad := range []string{"", "outcome 0", "OK", "none"} {
		if err := o.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is outcome %d", bad, o)
		}
	}
	if got := Outcome(200).String(); got != "outcome 200" {
		t.Errorf("an unknown outcome is %q", got)
	}
}
