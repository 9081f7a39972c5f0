package parse

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// html5libTest is a test of html5lib-tests, tokenizer/README.md there. A token is a list: its kind, its name or text,
// for a start tag its attributes, and true if it closes itself.
type html5libTest struct {
	Description   string
	InitialStates []string
	LastStartTag  string
	DoubleEscaped bool
	Input         string
	Output        [][]any
}

// TestHTML5Lib reads the inputs of html5lib's tokenizer tests. Judged are tags with their attributes, the text of raw
// text elements, and text that holds nothing but character references.
func TestHTML5Lib(t *testing.T) {
	files, err := filepath.Glob(conformance(t, "html5lib/tokenizer") + "/*.test")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	judged, tests := 0, 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var all struct{ Tests []html5libTest }
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
		for _, test := range all.Tests {
			if len(test.InitialStates) == 0 {
				test.InitialStates = []string{""} // the data state
			}
			for _, state := range test.InitialStates {
				tests++
				t.Run(filepath.Base(file)+"/"+test.Description+"/"+state, func(t *testing.T) {
					test.run(t, state)
					judged++
				})
			}
		}
	}
	if t.Logf("%d of %d tests judged", judged, tests); judged < tests*9/10 {
		t.Error("too few")
	}
}

func (c html5libTest) run(t *testing.T, state string) {
	if c.DoubleEscaped && !c.unescape() {
		t.Skip("a lone surrogate, which text in UTF-8 cannot hold")
	}
	e := new(element)
	z := scanner{text: []byte(c.Input), element: e}
	text := z.startIn(state, c.LastStartTag)
	if state == "" && !strings.Contains(c.Input, "<") {
		if strings.Contains(c.Input, "\x00") {
			t.Skip("NUL in text that is none of an element's: never read")
		}
		text, z.at = string(appendDecoded(nil, z.text, false)), len(z.text)
	}
	var got []string
	for f := z.next(); f != endOfText; f = z.next() {
		s := "EndTag " + bareName(z.name)
		if f == startTag {
			s = "StartTag " + bareName(z.name) + sortedAttributes(scannerAttributes(t, &z))
			if z.selfClosing {
				s += " /"
			}
		}
		got = append(got, s)
	}
	wantText, want := c.wanted(state != "" || !strings.Contains(c.Input, "<"))
	if text != wantText || !slices.Equal(got, want) {
		t.Errorf("input %q\n got %q, tags %q\nwant %q, tags %q", c.Input, text, got, wantText, want)
	}
}

// startIn reads the text that a test starts with in a state other than the data state.
func (z *scanner) startIn(state, lastStartTag string) string {
	if state == "Script data state" {
		lastStartTag = "script"
	}
	z.name = []byte(lastStartTag)
	z.tag = tagRawText
	if lastStartTag != "" && rawTextElement(lastStartTag) {
		z.tag = lookupTag(z.name)
	}
	switch state {
	case "":
		return ""
	case "RCDATA state":
		return string(appendDecoded(nil, z.rawText(), false))
	}
	return bareText(z.rawText())
}

// wanted returns the text that stands before the first tag, where it is judged, and the tags.
func (c html5libTest) wanted(judgeText bool) (text string, tags []string) {
	for _, token := range c.Output {
		switch kind := token[0]; {
		case kind == "Character" && judgeText && len(tags) == 0:
			text += token[1].(string)
		case kind == "StartTag":
			var attrs []attribute
			for name, value := range token[2].(map[string]any) {
				attrs = append(attrs, attribute{name, value.(string)})
			}
			s := "StartTag " + token[1].(string) + sortedAttributes(attrs)
			if len(token) > 3 {
				s += " /"
			}
			tags = append(tags, s)
		case kind == "EndTag":
			tags = append(tags, "EndTag "+token[1].(string))
		}
	}
	return text, tags
}

func sortedAttributes(attrs []attribute) string {
	var list []string
	for _, a := range attrs {
		list = append(list, " "+strconv.Quote(a.name)+"="+strconv.Quote(a.value))
	}
	slices.Sort(list)
	return strings.Join(list, "")
}

var escape = regexp.MustCompile(`\\u[0-9A-Fa-f]{4}`)

// unescape replaces the escapes that the test writes twice, and reports whether all are characters.
func (c *html5libTest) unescape() bool {
	ok := true
	replace := func(s string) string {
		return escape.ReplaceAllStringFunc(s, func(s string) string {
			n, _ := strconv.ParseUint(s[2:], 16, 16)
			ok = ok && (n < 0xd800 || n > 0xdfff)
			return string(rune(n))
		})
	}
	c.Input = replace(c.Input)
	for _, token := range c.Output {
		for i := range token {
			if s, isString := token[i].(string); isString {
				token[i] = replace(s)
			}
		}
	}
	return ok
}
