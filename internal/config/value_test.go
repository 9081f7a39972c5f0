package config

import (
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/pflag"
)

var (
	_ pflag.Value = new(Duration)
	_ pflag.Value = new(Size)
	_ pflag.Value = new(Count)
	_ pflag.Value = new(Rate)
	_ pflag.Value = new(Optional[Count])
)

// accepts tests that a type reads a text as want, writes it as written, and reads that back.
func accepts[T interface {
	comparable
	value[T]
}](t *testing.T, text string, want T, written string) {
	t.Helper()
	var zero T
	got, err := zero.parse(text)
	if err != nil || got != want {
		t.Errorf("%T: %q reads as %v, %v, want %v", zero, text, got, err, want)
	}
	if got.String() != written {
		t.Errorf("%T: %q is written %q, want %q", zero, text, got.String(), written)
	}
	readsBack(t, want)
}

func readsBack[T interface {
	comparable
	value[T]
}](t *testing.T, v T) {
	t.Helper()
	if back, err := v.parse(v.String()); err != nil || back != v {
		t.Errorf("%T: %q reads back as %v, %v", v, v.String(), back, err)
	}
}

// refuses tests that a type reads none of the texts, and says what it wants.
func refuses[T value[T]](t *testing.T, want string, texts ...string) {
	t.Helper()
	var zero T
	for _, text := range texts {
		got, err := zero.parse(text)
		wrong, ok := errors.AsType[*badValue](err)
		if !ok || wrong.want != want {
			t.Errorf("%T: %q gives %v, %v, want the error %q", zero, text, got, err, want)
		}
	}
}

func TestDuration(t *testing.T) {
	accepts(t, "10s", Duration(10*time.Second), "10s")
	accepts(t, "1m30s", Duration(90*time.Second), "1m30s")
	accepts(t, "0", Duration(0), "0s")
	accepts(t, "60s", Duration(time.Minute), "1m")
	accepts(t, "90m", Duration(90*time.Minute), "1h30m")
	accepts(t, "48h", Duration(48*time.Hour), "48h")
	accepts(t, "1h0m5s", Duration(time.Hour+5*time.Second), "1h0m5s")
	accepts(t, "250ms", Duration(250*time.Millisecond), "250ms")
	accepts(t, "10m0.5s", Duration(10*time.Minute+time.Second/2), "10m0.5s")
	refuses[Duration](t, "a time with its unit, such as 1s, 1m30s or 250ms", "", "10", "-1s", "1 s", "1d", "none", "1:30", "9999999h")
}

func TestSize(t *testing.T) {
	accepts(t, "512Mi", Size(512<<20), "512Mi")
	accepts(t, "64MiB", Size(64<<20), "64Mi")
	accepts(t, "10M", Size(10_000_000), "10M")
	accepts(t, "10MB", Size(10_000_000), "10M")
	accepts(t, "1.5Gi", Size(3<<29), "1536Mi")
	accepts(t, "0", Size(0), "0")
	accepts(t, "0Mi", Size(0), "0")
	accepts(t, "1000", Size(1000), "1k")
	accepts(t, "1024", Size(1024), "1Ki")
	accepts(t, "1025", Size(1025), "1025")
	accepts(t, "5K", Size(5000), "5k")
	accepts(t, "1e6", Size(1e6), "1M")
	accepts(t, "8388607Ti", Size(8388607<<40), "8388607Ti")
	accepts(t, "9223372036854775807", Size(1<<63-1), "9223372036854775807")
	refuses[Size](t, "a size such as 512Mi (2^20 bytes), 10M (10^6) or plain bytes",
		"", "Mi", "-1", "1 Mi", "1m", "0.5", "1.5", ".5M", "5.M", "0x10", "1_000", "9223372036854775808", "8388608Ti", "none",
		"1e99999999999999999999", "1e65", "Inf")
}

func TestCount(t *testing.T) {
	accepts(t, "500", Count(500), "500")
	accepts(t, "200M", Count(200_000_000), "200M")
	accepts(t, "1e6", Count(1_000_000), "1M")
	accepts(t, "1.5M", Count(1_500_000), "1500000")
	accepts(t, "200k", Count(200_000), "200000")
	accepts(t, "2G", Count(2_000_000_000), "2G")
	accepts(t, "0", Count(0), "0")
	accepts(t, "010", Count(10), "10")
	accepts(t, "1500e-2", Count(15), "15")
	refuses[Count](t, "a whole number such as 500, 200k or 1.5M",
		"", "-1", "+1", "0.5", "1e-1", "1,000", "1Mi", "ten", "none", "١", "9e18k")
}

func TestRate(t *testing.T) {
	accepts(t, "0.1%", Rate(0.001), "0.1%")
	accepts(t, "0.001", Rate(0.001), "0.1%")
	accepts(t, "1e-3", Rate(0.001), "0.1%")
	accepts(t, "1%", Rate(0.01), "1%")
	accepts(t, "12.5%", Rate(0.125), "12.5%")
	accepts(t, "0.5", Rate(0.5), "50%")
	accepts(t, "0.07%", Rate(0.0007), "0.07%")
	accepts(t, "0.0000001", Rate(1e-7), "0.00001%")
	accepts(t, "1.25e-20", Rate(1.25e-20), "1.25e-18%")
	refuses[Rate](t, "a rate between 0 and 1, such as 0.1% or 0.001",
		"", "0", "1", "100%", "-0.1", "%", "0.1 %", "0x1p-3", "NaN", "Inf", "1e-9999", "none")
}

func TestFactor(t *testing.T) {
	accepts(t, "2", Factor(2), "2")
	accepts(t, "0", Factor(0), "0")
	accepts(t, "0.50", Factor(0.5), "0.5")
	accepts(t, "1e30", Factor(1e30), "1e+30")
	refuses[Factor](t, "a number, zero or more, such as 2 or 0.5", "", "-1", "NaN", "Inf", "1e999", "two")
}

func TestFrequency(t *testing.T) {
	accepts(t, "50/s", Frequency{50, time.Second}, "50/s")
	accepts(t, "0.5/s", Frequency{0.5, time.Second}, "0.5/s")
	accepts(t, "600/m", Frequency{600, time.Minute}, "600/m")
	accepts(t, "1000/h", Frequency{1000, time.Hour}, "1000/h")
	accepts(t, "1e6/s", Frequency{1e6, time.Second}, "1e+06/s")
	refuses[Frequency](t, "requests in a time, such as 50/s, 600/m or 1000/h, one a day at least",
		"", "50", "0/s", "-1/s", "500k/s", "2MiB", "5/d", "/s", "5 /s", "1e7/s", "0.00001/s", "NaN/s", "Inf/s", "1/h/h")
	if got := (Frequency{90, time.Minute}).PerSecond(); got != 1.5 {
		t.Errorf("90/m is %v a second, want 1.5", got)
	}
}

func TestOptional(t *testing.T) {
	accepts(t, "none", Optional[Count]{}, "none")
	accepts(t, "0", Some[Count](0), "0")
	accepts(t, "5", Some[Count](5), "5")
	accepts(t, "1m", Some(Duration(time.Minute)), "1m")
	refuses[Optional[Count]](t, "a whole number such as 500, 200k or 1.5M, or none", "", "x", "null", "None", "unset")

	if _, present := (Optional[Count]{}).Get(); present || (Optional[Count]{}).Or(7) != 7 {
		t.Error("the zero Optional is a limit")
	}
	if limit, present := Some[Count](0).Get(); !present || limit != 0 || Some[Count](0).Or(7) != 0 {
		t.Error("a limit of 0 is none")
	}
}

func TestAgent(t *testing.T) {
	accepts(t, "crawl/{version}", Agent("crawl/{version}"), "crawl/{version}")
	accepts(t, "Mozilla/5.0 (compatible; x/1)", Agent("Mozilla/5.0 (compatible; x/1)"), "Mozilla/5.0 (compatible; x/1)")
	refuses[Agent](t, "a product name, then what you like in ASCII, such as mybot/1.0",
		"", " x", "/1", "(x)", "bot\r\nX: y", "bøt", "bot/1 \u00a0")

	for _, tt := range []struct {
		agent           Agent
		contact         Contact
		product, header string
	}{
		{"crawl/{version}", "", "crawl", "crawl/1.2"},
		{"crawl/{version}", "https://a.example/bot", "crawl", "crawl/1.2 (+https://a.example/bot)"},
		{"my-bot", "me@a.example", "my-bot", "my-bot (+me@a.example)"},
		{"bot (x)", "", "bot", "bot (x)"},
	} {
		if got := tt.agent.Product(); got != tt.product {
			t.Errorf("product of %q is %q, want %q", tt.agent, got, tt.product)
		}
		if got := tt.agent.Header("1.2", tt.contact); got != tt.header {
			t.Errorf("header of %q is %q, want %q", tt.agent, got, tt.header)
		}
	}
}

func TestContact(t *testing.T) {
	accepts(t, "", Contact(""), "")
	accepts(t, "https://a.example/bot", Contact("https://a.example/bot"), "https://a.example/bot")
	accepts(t, "bot@a.example", Contact("bot@a.example"), "bot@a.example")
	refuses[Contact](t, "a URL or a mail address", "me", "a@b (c)", "a@b\n", "ü@a.example")
}

func TestChoices(t *testing.T) {
	for _, s := range Scope("").choices() {
		accepts(t, s, Scope(s), s)
	}
	refuses[Scope](t, "one of host, domain, prefix, any", "", "Host", "hosts", "none")
	for _, s := range Robots("").choices() {
		accepts(t, s, Robots(s), s)
	}
	refuses[Robots](t, "one of obey, ignore", "", "true", "respect")
}

func TestPattern(t *testing.T) {
	accepts(t, `\.pdf$`, Pattern(`\.pdf$`), `\.pdf$`)
	accepts(t, `it's`, Pattern(`it's`), `it's`)
	refuses[Pattern](t, "a regular expression (missing closing ) in it)", "(")
	refuses[Pattern](t, "a regular expression (invalid or unsupported Perl syntax in it)", "(?=a)", `(?!a)`)
	refuses[Pattern](t, "a regular expression (invalid UTF-8 in it)", "\xff")
	refuses[Pattern](t, `a regular expression without control characters (write \t or \x{85})`, "a\tb", "a\nb", "\u0085")
	refuses[Pattern](t, "a regular expression", "")
}

func TestPrivate(t *testing.T) {
	accepts(t, "all", AllPrivate, "all")
	accepts(t, "Router.LAN", Private("router.lan"), "router.lan")
	accepts(t, "localhost:8080", Private("localhost:8080"), "localhost:8080")
	accepts(t, "127.0.0.1", Private("127.0.0.1"), "127.0.0.1")
	accepts(t, "127.0.0.1:80", Private("127.0.0.1:80"), "127.0.0.1:80")
	accepts(t, "[::1]", Private("::1"), "::1")
	accepts(t, "0:0::1", Private("::1"), "::1")
	accepts(t, "[::1]:80", Private("[::1]:80"), "[::1]:80")
	accepts(t, "10.1.2.3/8", Private("10.0.0.0/8"), "10.0.0.0/8")
	accepts(t, "fd00::/8", Private("fd00::/8"), "fd00::/8")
	refuses[Private](t, "a host name or an address, either with or without port, a range such as 10.0.0.0/8, or all",
		"", "http://a", "a:0", "a:65536", "a:b", ":80", "10.0.0.0/33", "[127.0.0.1", "fe80::1%eth0", "a b", "bücher.example",
		"a..b", ".", "..", ".a", "127.0.0.256", "1.2.3", "a.1", strings.Repeat("a", 64)+".example", strings.Repeat("a.", 126)+"aa")
}

func TestHostPattern(t *testing.T) {
	for text, want := range map[string]HostPattern{
		"a.example": "a.example", "A.Example.": "a.example", "a_b.example:8080": "a_b.example:8080", "*.Example": "*.example", "*": "*",
		"*:8080": "*:8080", "*.example:81": "*.example:81", "127.0.0.1": "127.0.0.1", "[0::1]:81": "[::1]:81", "[::1]": "[::1]",
		"bücher.example": "xn--bcher-kva.example", "*.BÜCHER.example": "*.xn--bcher-kva.example", "*.xn--bcher-kva.example": "*.xn--bcher-kva.example",
		"localhost": "localhost",
	} {
		accepts(t, text, want, string(want))
	}
	refuses[HostPattern](t, "a host such as a.example, a.example:8080, *.example or *",
		"", ".", "*.", "**", "*a.example", "a.*.example", "*.*.example", ".a.example", "a b", "http://a.example", "a.example/", "u@a.example",
		"a.example:", "a.example:0", "a.example:65536", "a.example:x", "*:", "*.:80", "::1", "[::1", "*.127.0.0.1", "*.[::1]", "a\tb", "a\u00a0b.example",
		"a..b", "*.a..b", "a.example..", "*..a", "127.0.0.256", "1.2.3", "*.1", strings.Repeat("a", 64)+".example", strings.Repeat("a.", 126)+"aa",
		strings.Repeat("ü", 2000))
}

func TestConnectTo(t *testing.T) {
	accepts(t, "a.test:80:127.0.0.1:8080", ConnectTo{"a.test", "80", "127.0.0.1", "8080"}, "a.test:80:127.0.0.1:8080")
	accepts(t, "::127.0.0.1:8080", ConnectTo{"", "", "127.0.0.1", "8080"}, "::127.0.0.1:8080")
	accepts(t, "A.test::[::1]:", ConnectTo{"a.test", "", "::1", ""}, "a.test::[::1]:")
	accepts(t, "[::1]:80::81", ConnectTo{"::1", "80", "", "81"}, "[::1]:80::81")
	refuses[ConnectTo](t, "HOST:PORT:ADDR:PORT, each of which may be empty, an IPv6 address in brackets",
		"", ":::", "a", "a:80", "a:80:b", "a:80:b:80:", "a:80:b:80:c", "a:0:b:80", "a:80:b:x", "a b:80:c:80", "::1:80:b:80",
		"[::1:80:b:80", "[::1]80:b:80", "[a]:80:b:80")
}

func TestResolver(t *testing.T) {
	at := func(text string) Resolver { return Resolver(netip.MustParseAddrPort(text)) }
	accepts(t, "192.0.2.53", at("192.0.2.53:53"), "192.0.2.53")
	accepts(t, "127.0.0.1:5353", at("127.0.0.1:5353"), "127.0.0.1:5353")
	accepts(t, "2001:db8::53", at("[2001:db8::53]:53"), "2001:db8::53")
	accepts(t, "[2001:db8::53]", at("[2001:db8::53]:53"), "2001:db8::53")
	accepts(t, "[fe80::1%eth0]:53", at("[fe80::1%eth0]:53"), "fe80::1%eth0")
	refuses[Resolver](t, "the address of a name server, such as 192.0.2.53, 127.0.0.1:5353 or [2001:db8::53]:53",
		"", "dns.example", "192.0.2.53:0", "192.0.2.53:x", "[192.0.2.53]", "https://dns.example/", "192.0.2", "[::1")
}

// The values are read by YAML and JSON decoders too, and written by JSON encoders.
func TestText(t *testing.T) {
	type values struct {
		D Duration
		S Size
		C Count
		R Rate
		N Optional[Count]
		M Optional[Duration]
	}
	want := values{Duration(90 * time.Second), 64 << 20, 200_000_000, 0.001, Optional[Count]{}, Some(Duration(0))}
	var got values
	if err := yaml.Unmarshal([]byte("d: 1m30s\ns: 64Mi\nc: 200M\nr: 0.1%\nn: none\nm: 0\n"), &got); err != nil || got != want {
		t.Errorf("YAML gives %v, %v, want %v", got, err, want)
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got = values{}
	if err := json.Unmarshal(text, &got); err != nil || got != want {
		t.Errorf("JSON %s gives %v, %v, want %v", text, got, err, want)
	}
	for _, v := range []pflag.Value{&got.D, &got.S, &got.C, &got.R, &got.N, &got.M} {
		before := v.String()
		if err := v.Set("?"); err == nil || v.String() != before {
			t.Errorf("%T: Set of a bad text gives %v and leaves %v, want an error and %v", v, err, v, before)
		}
		if err := v.Set(before); err != nil || v.String() != before {
			t.Errorf("%T: Set of %q gives %v, %v", v, before, v, err)
		}
	}
}

// FuzzValues: whatever a type reads, it writes so that it reads the same.
func FuzzValues(f *testing.F) {
	for _, text := range []string{"10s", "1.5Gi", "200M", "0.1%", "1e-3", "none", "crawl/{version}", "a@b", `\.pdf$`,
		"[::1]:80", "10.0.0.0/8", "a:80:[::1]:8080", "host", "9223372036854775807", "0.99999999999999999", "1e-320", "5e-324%"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fuzzValue[Duration](t, text)
		fuzzValue[Size](t, text)
		fuzzValue[Count](t, text)
		fuzzValue[Rate](t, text)
		fuzzValue[Factor](t, text)
		fuzzValue[Optional[Size]](t, text)
		fuzzValue[Agent](t, text)
		fuzzValue[Contact](t, text)
		fuzzValue[Scope](t, text)
		fuzzValue[Pattern](t, text)
		fuzzValue[HostPattern](t, text)
		fuzzValue[Private](t, text)
		fuzzValue[ConnectTo](t, text)
		fuzzValue[Resolver](t, text)
		fuzzValue[Frequency](t, text)
		fuzzValue[Parameter](t, text)
	})
}

func fuzzValue[T interface {
	comparable
	value[T]
}](t *testing.T, text string) {
	var zero T
	v, err := zero.parse(text)
	if err == nil {
		readsBack(t, v)
		return
	}
	if _, ok := errors.AsType[*badValue](err); !ok {
		t.Errorf("%T: %q gives the error %v, which does not say what is wanted", zero, text, err)
	}
}
