package config

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// secretFolder is a folder with files of secrets, which the test works in.
func secretFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"token": "t0ken\n", "crlf": "t0ken\r\n", "pair": "ann:p@ss:word", "empty": "\n", "two": "a\nb\n", "long": strings.Repeat("x", maxSecretBytes+1),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return dir
}

// What a reference stands for is looked up when settings are read, and what is rendered still names it.
func TestSecrets(t *testing.T) {
	dir := secretFolder(t)
	env := []string{"TOKEN=t0ken", "PASS=p@ss:word", "USER_NAME=ann", "PAIR=ann:p@ss:word", "CRAWL_PASS=p"}
	header := func(s Settings) string {
		var all []string
		for _, h := range s.Header {
			all = append(all, fmt.Sprintf("%s=%s,%t", h.Name(), h.Value(), h.Secret()))
		}
		return strings.Join(all, " ")
	}
	auth := func(s Settings) string {
		a, _ := s.Auth.Get()
		return a.User() + " " + a.Password()
	}
	for _, tt := range []struct {
		name, file string
		args       []string
		get        func(Settings) string
		want       string
		kept       string // in the rendered file
	}{
		{"variable", "header: ['Authorization: Bearer ${TOKEN}']", nil, header, "Authorization=Bearer t0ken,true", "'Authorization: Bearer ${TOKEN}'"},
		{"file", "", []string{"-H", "Cookie: @token"}, header, "Cookie=t0ken,true", "'Cookie: @" + dir + "/token'"},
		{"file with CRLF", "", []string{"-H", "X-Api-Key: @crlf"}, header, "X-Api-Key=t0ken,true", "@" + dir + "/crlf"},
		{"reference in a plain name", "header: ['X-Team: a${TOKEN}b']", nil, header, "X-Team=at0kenb,true", "'X-Team: a${TOKEN}b'"},
		{"no reference", "header: ['Accept-Language: de, en;q=0.5']", nil, header, "Accept-Language=de, en;q=0.5,false", "Accept-Language: de"},
		{"dollar alone", "header: ['X-Price: $5']", nil, header, "X-Price=$5,false", "X-Price: $5"},
		{"mapping", "header:\n  Accept-Language: de\n  X-N: 5\n", nil, header, "Accept-Language=de,false X-N=5,false", "'X-N: 5'"},
		{"list of mappings", "header:\n  - X-A: b\n  - 'X-C: d'\n", nil, header, "X-A=b,false X-C=d,false", "'X-A: b'"},
		{"auth", "auth: 'ann:${PASS}'", nil, auth, "ann p@ss:word", "auth: 'ann:${PASS}'"},
		{"auth, both named", "auth: ${USER_NAME}:${PASS}", nil, auth, "ann p@ss:word", "auth: '${USER_NAME}:${PASS}'"},
		{"auth, one variable", "", []string{"--auth=${PAIR}"}, auth, "ann p@ss:word", "auth: '${PAIR}'"},
		{"auth, file for the password", "", []string{"--auth=ann:@token"}, auth, "ann t0ken", "'ann:@" + dir + "/token'"},
		{"auth, one file", "", []string{"--auth=@pair"}, auth, "ann p@ss:word", "'@" + dir + "/pair'"},
		{"auth none", "auth: 'ann:${PASS}'", []string{"--auth=none"}, auth, " ", "auth: none"},
		{"a broken file that a flag replaces", "auth: 'ann:${GONE}'", []string{"--auth=@pair"}, auth, "ann p@ss:word", "/pair'"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Load(write(t, tt.file), env, parse(t, tt.args...))
			if err != nil {
				t.Fatal(err)
			}
			if got := tt.get(s); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			var b bytes.Buffer
			if err := s.Render(&b); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), tt.kept) {
				t.Errorf("%q is not kept:\n%s", tt.kept, b.String())
			}
			for _, text := range []string{b.String(), fmt.Sprintf("%v %+v", s, s)} {
				if strings.Contains(text, "p@ss") || strings.Contains(text, "t0ken") {
					t.Errorf("a secret is shown:\n%s", text)
				}
			}
			back, err := Resume(write(t, b.String()), "", env, nil)
			if err != nil || !reflect.DeepEqual(back, s) {
				t.Errorf("the rendered file gives %+v, %v; want %+v", back, err, s)
			}
		})
	}
}

func TestSecretsInHosts(t *testing.T) {
	file := write(t, "hosts:\n  - pattern: a.example\n    auth: 'ann:${PASS}'\n    headers: ['X-A: b', 'Authorization: ${TOKEN}']\n    cookies: on\n"+
		"  - pattern: b.example\n    auth: none\n    headers: {X-B: c}\n    cookies: off\n")
	env := []string{"PASS=p", "TOKEN=t"}
	s, err := Load(file, env, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, b := s.Hosts[0], s.Hosts[1]
	if auth, some := a.Auth.Get(); !some || auth.User() != "ann" || auth.Password() != "p" || a.Headers[1].Value() != "t" || *a.Cookies != CookiesOn {
		t.Errorf("the first entry is %+v", a)
	}
	if _, some := b.Auth.Get(); some || b.Headers[0].Value() != "c" || *b.Cookies != CookiesOff {
		t.Errorf("the second entry is %+v", b)
	}
	if got := s.Variables(); !slices.Equal(got, []string{"PASS", "TOKEN"}) {
		t.Errorf("variables %q", got)
	}
	var text bytes.Buffer
	if err := s.Render(&text); err != nil {
		t.Fatal(err)
	}
	if back, err := Load(write(t, text.String()), env, nil); err != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("%v\n%s", err, text.String())
	}
}

// What is wrong with a secret is told with its key and place, and without the secret.
func TestSecretErrors(t *testing.T) {
	dir := secretFolder(t)
	env := []string{"TWO=a\nb", "EMPTY=", "NOCOLON=ann", "NOUSER=:s3cret"}
	const literal = ", got it written out, which the crawl's directory would keep"
	const wantAuth = "want USER:${VARIABLE} or USER:@FILE, which name the password, or none"
	for _, tt := range []struct {
		name, file string
		args       []string
		want       string
	}{
		{"variable not set", "timeout: 5s\nauth: 'ann:${GONE}'", nil,
			"crawl.yaml:2:7: auth: the variable GONE is not set\n    2 | auth: 'ann:${GONE}'\n      |       ^"},
		{"empty variable", "", []string{"-H", "X: ${EMPTY}"}, "--header: the variable EMPTY is not set"},
		{"variable of two lines", "", []string{"-H", "X: ${TWO}"}, "--header: the variable TWO holds a line end or another control character"},
		{"no file", "", []string{"--auth=ann:@gone"}, "--auth: open " + dir + "/gone: no such file or directory"},
		{"empty file", "", []string{"--auth=ann:@empty"}, "--auth: " + dir + "/empty: the file is empty"},
		{"file of two lines", "", []string{"-H", "X: @two"}, "--header: " + dir + "/two: want one line without control characters"},
		{"long file", "", []string{"-H", "X: @long"}, "--header: " + dir + "/long: more than 16Ki is no secret"},
		{"no colon", "", []string{"--auth=${NOCOLON}"}, "--auth: want USER:PASSWORD from ${NOCOLON}, got no colon in it"},
		{"no user", "", []string{"--auth=:${TWO}"}, "--auth: " + wantAuth + ", got no user before the colon"},
		{"no user in the variable", "", []string{"--auth=${NOUSER}"}, "--auth: want a user's name before the password"},
		{"in hosts", "hosts:\n  - pattern: a.example\n    headers: ['X-Key: ${GONE}']", nil,
			"crawl.yaml:2:3: hosts: a.example: headers: the variable GONE is not set\n    2 |   - pattern: a.example\n      |   ^"},
		{"literal password", "auth: ann:s3cret", nil, "crawl.yaml:1:7: auth: " + wantAuth + literal},
		{"literal password in hosts", "hosts:\n  - {pattern: a.example, auth: 'ann:s3cret'}", nil, "crawl.yaml:2:32: hosts: auth: " + wantAuth + literal},
		{"literal password by flag", "", []string{"--auth", "ann:s3cret"}, "--auth: " + wantAuth + literal},
		{"user alone", "", []string{"--auth", "ann"}, "--auth: " + wantAuth + literal},
		{"literal credential", "header: ['Authorization: Basic s3cret']", nil,
			"crawl.yaml:1:10: header: want 'Authorization: ${VARIABLE}' or 'Authorization: @FILE', which name the secret" + literal},
		{"literal credential in hosts", "hosts:\n  - {pattern: a.example, headers: {Private-Token: s3cret}}", nil,
			"crawl.yaml:2:49: hosts: headers: want 'Private-Token: ${VARIABLE}' or 'Private-Token: @FILE', which name the secret" + literal},
		{"no header", "", []string{"-H", "Authorization s3cret"}, "--header: want 'Name: value', the value in printable characters, got another text"},
		{"empty value", "", []string{"-H", "X-A:"}, "--header: want 'Name: value', the value in printable characters, got another text"},
		{"no name", "", []string{"-H", "X A: b"}, "--header: want 'Name: value', the value in printable characters, got another text"},
		{"line end", "", []string{"-H", "X-A: b\r\nX-B: c"}, "--header: want ${VARIABLE}, @FILE or printable characters in the value of X-A, got others"},
		{"unclosed reference", "", []string{"-H", "X-A: ${B"}, "--header: want ${VARIABLE}, @FILE or printable characters in the value of X-A, got others"},
		{"framing", "header: ['Host: b.example']", nil,
			"crawl.yaml:1:10: header: want a field that does not frame the message or steer the connection, got \"Host\"\n    1 | header: ['Host: b.example']\n      |          ^"},
		{"framing in lower case", "", []string{"-H", "transfer-encoding: chunked"},
			`--header: want a field that does not frame the message or steer the connection, got "transfer-encoding"`},
		{"agent", "", []string{"-H", "User-Agent: x/1"}, `--header: want user_agent for the name to send, got "User-Agent"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := write(t, tt.file)
			_, err := Load(file, env, parse(t, tt.args...))
			if err == nil {
				t.Fatal("no error")
			}
			if got := strings.ReplaceAll(err.Error(), file, "crawl.yaml"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the secret is shown: %v", err)
			}
		})
	}
}

// CRAWL_HEADER holds a field a line, since fields have blanks.
func TestHeadersInEnvironment(t *testing.T) {
	s, err := Load("", []string{"CRAWL_HEADER=X-A: b c\nX-D: ${E}", "E=f"}, nil)
	if err != nil || len(s.Header) != 2 || s.Header[0].Value() != "b c" || s.Header[1].Value() != "f" {
		t.Errorf("got %+v, %v", s.Header, err)
	}
}
