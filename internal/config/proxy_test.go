package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestProxy(t *testing.T) {
	for text, want := range map[string]string{
		"proxy.example:3128":             "http://proxy.example:3128",
		"http://Proxy.example":           "http://proxy.example",
		"HTTPS://proxy.example:443/":     "https://proxy.example:443",
		"socks5://127.0.0.1:1080":        "socks5://127.0.0.1:1080",
		"socks5h://[::1]:9050":           "socks5h://[::1]:9050",
		"http://ann@proxy.example:1":     "http://ann@proxy.example:1",
		"http://ann:${PASS}@p.example:1": "http://ann:${PASS}@p.example:1",
		"http://${BOTH}@p.example":       "http://${BOTH}@p.example",
		"socks5://ann:@/run/pw@p:1":      "socks5://ann:@/run/pw@p:1",
		"socks5://@/run/pw@p:1":          "socks5://@/run/pw@p:1",
	} {
		p, err := Proxy{}.parse(text)
		if err != nil || p.String() != want {
			t.Errorf("%s: %q %v, want %q", text, p, err, want)
			continue
		}
		if again, err := (Proxy{}).parse(want); err != nil || again != p {
			t.Errorf("%s reads back as %+v %v", want, again, err)
		}
	}
	for _, text := range []string{
		"", "http://", "ftp://p:1", "http://p:0", "http://p:x", "http://p:1/path", "http://a b", "::1", "http://::1", "http://@p:1", "http://p:",
		"http://ann:s3cret@p:1", "http://ann:${PASS@p:1", "http://a\tb@p:1", "http://s3cret:@p:1",
	} {
		_, err := Proxy{}.parse(text)
		if err == nil {
			t.Errorf("%q is accepted", text)
		} else if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v shows a password", err)
		}
	}
}

// TestProxySecrets: the password is in memory alone; what is rendered names it, and is looked up again.
func TestProxySecrets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pw")
	if err := os.WriteFile(file, []byte("s3cret-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	text := "proxy: 'http://ann:${PASS}@proxy.example:3128'\nhosts:\n  - pattern: '*.direct.example'\n    proxy: none\n" +
		"  - pattern: onion.example\n    proxy: 'socks5h://bob:@" + file + "@127.0.0.1:9050'\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"PASS=s3cret-word"}
	s, err := Load(path, env, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := s.Proxy.Get()
	tor, _ := s.Hosts[1].Proxy.Get()
	if p.User() != "ann" || p.Password() != "s3cret-word" || tor.User() != "bob" || tor.Password() != "s3cret-file" {
		t.Errorf("%q %q and %q %q", p.User(), p.Password(), tor.User(), tor.Password())
	}
	if _, some := s.Hosts[0].Proxy.Get(); some {
		t.Error("none is a proxy")
	}
	if p.URL() != "http://proxy.example:3128" {
		t.Errorf("URL %q", p.URL())
	}
	var out strings.Builder
	if err := s.Render(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "s3cret") {
		t.Error("the rendering holds a password")
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if back, err := Load(path, env, nil); err != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("reads back as %+v %v", back.Proxy, err)
	}
	if _, err := Load(path, nil, nil); err == nil || !strings.Contains(err.Error(), "proxy: the variable PASS is not set") {
		t.Errorf("without the variable: %v", err)
	}
}
