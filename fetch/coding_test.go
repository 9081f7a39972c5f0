package fetch

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// encoded applies codings to text, the first one first. "bare" is deflate without the frame of zlib.
func encoded(t testing.TB, text string, codings ...string) []byte {
	t.Helper()
	b := []byte(text)
	for _, coding := range codings {
		var out bytes.Buffer
		var w io.WriteCloser
		var err error
		switch coding {
		case "gzip":
			b = gzipped(t, string(b))
			continue
		case "deflate":
			w = zlib.NewWriter(&out)
		case "bare":
			w, err = flate.NewWriter(&out, flate.DefaultCompression)
		case "br":
			w = brotli.NewWriterOptions(&out, brotli.WriterOptions{Quality: 4})
		case "zstd":
			w, err = zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
		default:
			t.Fatalf("no encoder for %q", coding)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		b = out.Bytes()
	}
	return b
}

// fetchEncoded returns what a client makes of payload under that Content-Encoding, having seen it once before: so decoders
// and buffers are used ones.
func fetchEncoded(t *testing.T, c *Client, payload []byte, encoding string) *Result {
	t.Helper()
	p := newPeer(t, answering(answer(payload, "Content-Encoding: "+encoding)))
	mustFetch(t, c, p.url("/")).Release()
	res := mustFetch(t, c, p.url("/"))
	if !bytes.Equal(res.Payload, payload) {
		t.Error("payload is not what was sent")
	}
	return res
}

func TestCodings(t *testing.T) {
	text := pseudoText(300 << 10)
	frames := slices.Concat(encoded(t, "ab", "zstd"), []byte("\x50\x2a\x4d\x18\x03\x00\x00\x00xyz"), encoded(t, "cd", "zstd"))
	for _, tt := range []struct {
		name     string
		payload  []byte
		encoding string
		body     string
	}{
		{"br", encoded(t, text, "br"), "br", text},
		{"br of nothing", encoded(t, "", "br"), "br", ""},
		{"zstd", encoded(t, text, "zstd"), "zstd", text},
		{"zstd in frames, one to be skipped", frames, "zstd", "abcd"},
		{"zstd with zeros behind it", append(encoded(t, "ab", "zstd"), 0, 0, 0, 0), "zstd", "ab"},
		{"deflate", encoded(t, text, "deflate"), "deflate", text},
		{"deflate, bare", encoded(t, text, "bare"), "Deflate", text},
		{"deflate of nothing", encoded(t, "", "deflate"), "deflate", ""},
		{"deflate, bare, with bytes behind it", append(encoded(t, text, "bare"), "junk"...), "deflate", text},
		{"gzip then br", encoded(t, text, "gzip", "br"), "gzip, br", text},
		{"br then gzip", encoded(t, text, "br", "gzip"), "br,gzip", text},
		{"all five", encoded(t, text, "deflate", "br", "zstd", "gzip", "bare"), "deflate, br, zstd, gzip, deflate", text},
		{"nothing under two", encoded(t, "", "br", "gzip"), "br, gzip", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := fetchEncoded(t, newClient(t, Config{}), tt.payload, tt.encoding)
			if string(res.Body) != tt.body || res.Truncated != Whole || res.DecodeErr != nil || res.Mislabeled != "" {
				t.Errorf("%d bytes, %q, %v, mislabeled %q; want %d bytes", len(res.Body), res.Truncated, res.DecodeErr, res.Mislabeled, len(tt.body))
			}
		})
	}
}

func pseudoText(n int) string {
	var b strings.Builder
	for i := uint32(1); b.Len() < n; i = i*1664525 + 1013904223 {
		fmt.Fprintf(&b, "<p>%d ", i>>12)
	}
	return b.String()[:n]
}

// A body that plainly does not have the coding it is labelled with is taken as it is.
func TestMislabeled(t *testing.T) {
	page := "<!doctype html><title>caf\u00e9</title>" + pseudoText(2000)
	for _, tt := range []struct {
		name, encoding string
		payload        []byte
		body           string
		mislabeled     string
	}{
		{"gzip", "gzip", []byte(page), page, "gzip"},
		{"zstd", "zstd", []byte(page), page, "zstd"},
		{"br", "br", []byte(page), page, "br"},
		{"deflate", "deflate", []byte(page), page, "deflate"},
		{"robots.txt as br", "br", []byte("User-agent: *\nDisallow: /x\n"), "User-agent: *\nDisallow: /x\n", "br"},
		{"gzip called br", "br", encoded(t, page, "gzip"), page, "br"},
		{"gzip called deflate", "deflate", encoded(t, page, "gzip"), page, "deflate"},
		{"gzip called zstd", "zstd", encoded(t, page, "gzip"), page, "zstd"},
		{"zstd called gzip", "gzip", encoded(t, page, "zstd"), page, "gzip"},
		{"zstd called br", "br", encoded(t, page, "zstd"), page, "br"},
		{"gzip called br, within gzip", "br, gzip", encoded(t, page, "gzip", "gzip"), page, "br"},
		{"gzip within gzip called br", "gzip, br", encoded(t, page, "gzip", "gzip"), page, "br"},
		{"a coding that is none", "UTF-8", []byte(page), page, "utf-8"},
		{"another that is none, beside one", "gzip, none", []byte(page), page, "none"},
		{"br within gzip", "br, gzip", encoded(t, page, "gzip"), page, "br"},
		{"gzip within br", "gzip, br", encoded(t, page, "br"), page, "gzip"},
		{"zstd within br", "zstd, br, deflate", encoded(t, page, "br", "bare"), page, "zstd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := fetchEncoded(t, newClient(t, Config{}), tt.payload, tt.encoding)
			if res.Mislabeled != tt.mislabeled {
				t.Errorf("mislabeled %q, want %q", res.Mislabeled, tt.mislabeled)
			}
			if failed := res.DecodeErr != nil; failed == (tt.mislabeled != "") || !failed && string(res.Body) != tt.body {
				t.Errorf("%d bytes, %v; want %d bytes", len(res.Body), res.DecodeErr, len(tt.body))
			}
		})
	}
}

func TestBrokenCodings(t *testing.T) {
	text := pseudoText(100 << 10)
	for _, coding := range []string{"gzip", "deflate", "bare", "br", "zstd"} {
		whole := encoded(t, text, coding)
		label := strings.Replace(coding, "bare", "deflate", 1)
		t.Run(coding+" without its end", func(t *testing.T) {
			res := fetchEncoded(t, newClient(t, Config{}), whole[:len(whole)-20], label)
			if !errors.Is(res.DecodeErr, errNoEnd) || !strings.HasPrefix(res.DecodeErr.Error(), label+": ") || !strings.HasPrefix(text, string(res.Body)) {
				t.Errorf("%v, %d bytes", res.DecodeErr, len(res.Body))
			}
			if coding != "zstd" && len(res.Body) < len(text)/2 { // which gives whole blocks of 128 KiB
				t.Errorf("only %d bytes of %d", len(res.Body), len(text))
			}
		})
		t.Run(coding+" with rubbish in it", func(t *testing.T) {
			broken := slices.Clone(whole)
			for i := len(broken) / 2; i < len(broken)-30; i++ {
				broken[i] ^= byte(i)
			}
			c := newClient(t, Config{})
			if res := fetchEncoded(t, c, broken, label); res.DecodeErr == nil && coding != "bare" && coding != "br" {
				t.Errorf("no error, %d bytes", len(res.Body)) // those two have no checksum
			}
			if res := fetchEncoded(t, c, whole, label); string(res.Body) != text {
				t.Errorf("a decoder that failed made %d bytes of the next body: %v", len(res.Body), res.DecodeErr)
			}
		})
	}
}

// frame makes a zstd frame whose head asks for a window of 1<<windowLog bytes, with text as its only block.
func frame(windowLog int, text string) []byte {
	size := uint32(len(text))<<3 | 1 // the last block, as it is
	head := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, byte(windowLog-10) << 3, byte(size), byte(size >> 8), byte(size >> 16)}
	return append(head, text...)
}

// wideBrotli encodes text with a window of 1<<lgwin bytes.
func wideBrotli(t *testing.T, lgwin int, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := brotli.NewWriterOptions(&out, brotli.WriterOptions{Quality: 5, LGWin: lgwin})
	io.WriteString(w, text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestWindows(t *testing.T) {
	for _, tt := range []struct {
		name, encoding string
		payload        []byte
		body           string
		err            error
	}{
		{"8 MiB", "zstd", frame(23, "ab"), "ab", nil},
		{"a larger one behind a small one", "zstd", append(frame(17, "ab"), frame(23, "cd")...), "abcd", nil},
		{"16 MiB", "zstd", frame(24, "ab"), "", zstd.ErrWindowSizeExceeded},
		{"together too large", "br, br", wideBrotli(t, 24, string(wideBrotli(t, 24, "ab"))), "", errWindows},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := fetchEncoded(t, newClient(t, Config{}), tt.payload, tt.encoding)
			if string(res.Body) != tt.body || !errors.Is(res.DecodeErr, tt.err) {
				t.Errorf("%q, %v; want %q, %v", res.Body, res.DecodeErr, tt.body, tt.err)
			}
		})
	}
}

func TestBrotliWindow(t *testing.T) {
	for lgwin := 10; lgwin <= 24; lgwin++ {
		if got := brotliWindow(wideBrotli(t, lgwin, pseudoText(1000))[0]); got != 1<<lgwin {
			t.Errorf("window of %d bytes, want 1<<%d", got, lgwin)
		}
	}
}

// TestRatio: what decodes out of all proportion is cut, and said to be; what is small is not.
func TestRatio(t *testing.T) {
	for _, coding := range []string{"gzip", "br", "zstd"} {
		t.Run(coding, func(t *testing.T) {
			zeros := encoded(t, strings.Repeat("\x00", 8<<20), coding)
			res := fetchEncoded(t, newClient(t, Config{}), zeros, coding)
			want := max(ratioFreeBytes, maxRatio*len(zeros))
			if res.Truncated != TruncatedLength || !errors.Is(res.BodyErr, errRatio) || res.DecodeErr != nil || len(res.Body) != want {
				t.Errorf("%q, %v, %v, %d bytes of %d; want %d", res.Truncated, res.BodyErr, res.DecodeErr, len(res.Body), len(zeros), want)
			}
			small := encoded(t, strings.Repeat("x", 1<<20), coding)
			if res := fetchEncoded(t, newClient(t, Config{}), small, coding); res.Truncated != Whole || len(res.Body) != 1<<20 {
				t.Errorf("%q, %d bytes of %d", res.Truncated, len(res.Body), len(small))
			}
		})
	}
}
