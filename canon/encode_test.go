package canon

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/transform"
)

// encoderOf makes an Encoder of an encoding of x/text. (The encoders of x/net/html/charset will not do: they replace
// what they lack on their own.)
func encoderOf(enc encoding.Encoding) Encoder {
	t := enc.NewEncoder().Transformer
	return func(dst, text []byte) ([]byte, int) {
		t.Reset()
		for n := 0; ; {
			written, read, err := t.Transform(dst[len(dst):cap(dst)], text[n:], true)
			dst, n = dst[:len(dst)+written], n+read
			if !errors.Is(err, transform.ErrShortDst) {
				return dst, n
			}
			dst = append(dst, make([]byte, 64)...)[:len(dst)]
		}
	}
}

func TestParseEncoded(t *testing.T) {
	base := mustParse(t, "http://a.example/b/c?d")
	for _, tt := range []struct {
		name      string
		enc       encoding.Encoding
		ref, want string
	}{
		{"path is UTF-8", charmap.Windows1251, "/ж?ж#ж", "http://a.example/%D0%B6?%E6"},
		{"host is UTF-8", charmap.Windows1251, "//bücher.example?ж", "http://xn--bcher-kva.example/?%E6"},
		{"query alone", charmap.Windows1251, "?ж", "http://a.example/b/c?%E6"},
		{"lacking character", charmap.Windows1251, "?q=ж★ж&r", "http://a.example/b/c?q=%E6%26%239733%3B%E6&r"},
		{"lacking characters alone", charmap.ISO8859_1, "?★☆", "http://a.example/b/c?%26%239733%3B%26%239734%3B"},
		{"character beyond 16 bits", charmap.ISO8859_1, "?😀", "http://a.example/b/c?%26%23128512%3B"},
		{"triplets stay", charmap.Windows1251, "?%D0%B6=ж", "http://a.example/b/c?%D0%B6=%E6"},
		{"ASCII", charmap.Windows1251, "?a b&c='d'", "http://a.example/b/c?a%20b&c=%27d%27"},
		{"query of the base stays", charmap.Windows1251, "#x", "http://a.example/b/c?d"},
		{"second byte in ASCII", japanese.ShiftJIS, "?ソ表", "http://a.example/b/c?%83\\%95\\"},
		{"bytes that are no UTF-8", charmap.Windows1251, "?ж\xe9\xffж", "http://a.example/b/c?%E6%E9%FF%E6"},
		{"U+FFFD", charmap.Windows1251, "?\ufffd", "http://a.example/b/c?%26%2365533%3B"},
		{"long", charmap.Windows1251, "?" + strings.Repeat("ж", 500), "http://a.example/b/c?" + strings.Repeat("%E6", 500)},
		{"UTF-8", encoding.Nop, "?ж", "http://a.example/b/c?%D0%B6"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u, err := (*Rules)(nil).ParseEncoded(base, tt.ref, encoderOf(tt.enc))
			if err != nil || u.String() != tt.want {
				t.Fatalf("%q: got %q, %v, want %q", tt.ref, u, err, tt.want)
			}
			checkURL(t, u)
			checkKey(t, u)
		})
	}
}
