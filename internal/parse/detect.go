package parse

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// detect guesses the charset of a body that says nothing of it and is not UTF-8: by escape sequences and the zeros of
// UTF-16, by which bytes can follow each other in the encodings of East Asia, and by how often letters occur in the
// languages of the others. domain is the last label of the page's host, which counts like a few letters. A body of
// which too little is not ASCII is windows-1252, as in browsers.
func detect(body []byte, domain string) charset {
	if name := detectUTF16(body); name != "" {
		return lookup(name)
	}
	sample := sampleOf(body)
	if len(sample) == 0 {
		if hasJapaneseEscapes(body) {
			return lookup("iso-2022-jp")
		}
		return lookup("windows-1252")
	}
	if name := detectEastAsian(sample, domain); name != "" {
		return lookup(name)
	}
	return lookup(detectLetters(sample, domain))
}

const (
	sampleBytes  = 4 << 10 // of a body's text that is not ASCII, with what is around it
	sampleAround = 2       // ASCII bytes before and after
)

// sampleOf gathers the stretches of a body that are not ASCII, each with a few bytes around it, and a line end between
// those that are apart. Markup, which is ASCII, falls away.
func sampleOf(body []byte) []byte {
	var sample []byte
	for at := 0; len(sample) < sampleBytes; {
		skipped := asciiPrefix(body[at:])
		start := at + skipped
		if start == len(body) {
			break
		}
		if skipped > 2*sampleAround && len(sample) > 0 {
			sample = append(sample, body[at:at+sampleAround]...)
			sample = append(sample, '\n')
			at = start - sampleAround
		} else if len(sample) == 0 {
			at = max(at, start-sampleAround)
		}
		end := start
		for end < len(body) && body[end] >= utf8.RuneSelf && end-start < sampleBytes {
			end++
		}
		sample = append(sample, body[at:end]...)
		at = end
	}
	return sample
}

// asciiPrefix returns how many bytes at the start of s are ASCII.
func asciiPrefix(s []byte) int {
	n := 0
	for len(s)-n >= 64 && isASCII(s[n:n+64]) {
		n += 64
	}
	for n < len(s) && s[n] < utf8.RuneSelf {
		n++
	}
	return n
}

// detectUTF16 knows UTF-16 without a mark by markup, every second byte of which is zero.
func detectUTF16(body []byte) string {
	const enough = 16
	head := body[:min(len(body)&^1, 256)]
	var zeros [2]int // at even and at odd places
	for i, c := range head {
		if c == 0 {
			zeros[i&1]++
		}
	}
	switch pairs := len(head) / 2; {
	case pairs < enough:
	case zeros[0] == 0 && zeros[1]*10 >= pairs*9:
		return "utf-16le"
	case zeros[1] == 0 && zeros[0]*10 >= pairs*9:
		return "utf-16be"
	}
	return ""
}

// hasJapaneseEscapes reports whether a body switches to a Japanese set and back (ISO-2022-JP).
func hasJapaneseEscapes(body []byte) bool {
	i := bytes.Index(body, []byte("\x1b$"))
	if i < 0 || len(body) < i+3 || body[i+2] != 'B' && body[i+2] != '@' {
		return false
	}
	back := body[i:]
	return bytes.Contains(back, []byte("\x1b(B")) || bytes.Contains(back, []byte("\x1b(J"))
}

// lastLabel returns what stands behind the last dot of a host; empty for an address.
func lastLabel(host string) string {
	host = strings.TrimSuffix(host, ".")
	label := host[strings.LastIndexByte(host, '.')+1:]
	if strings.Trim(label, "0123456789") == "" || strings.ContainsAny(label, ":]") {
		return ""
	}
	return label
}
