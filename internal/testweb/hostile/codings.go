package hostile

import "strings"

// bombed is what is left of a bomb.
var bombed = cut("length")

const titled = "<title>packed</title>"

// codings are bombs, or not what the head says.
func codings(l Limits) []Behaviour {
	nothing := 3 * l.BodyBytes
	gzipBomb := bomb(nothing, gzipper)
	return []Behaviour{
		explosive("gzip-bomb", "sends much of nothing in gzip", "gzip", gzipBomb),
		explosive("gzip-nested-bomb", "sends the same in gzip in gzip", "gzip, gzip", func() string { return gzipped(gzipBomb()) }),
		explosive("gzip-bomb-members", "sends 20 bombs as the members of one gzip stream", "gzip", func() string { return strings.Repeat(gzipBomb(), 20) }),
		explosive("deflate-bomb", "sends much of nothing in deflate", "deflate", bomb(nothing, deflater)),
		explosive("br-bomb", "sends much of nothing in brotli", "br", bomb(nothing, brotlier)),
		explosive("zstd-bomb", "sends much of nothing in zstd", "zstd", bomb(nothing, zstdder)),
		coded("gzip-members", "sends 10,000 empty members, then a page", "gzip", strings.Repeat(gzipped(""), 10_000)+gzipped(titled), okTitled("packed")),
		coded("gzip-cut", "sends half a gzip stream as if it were all", "gzip", half(gzipped(filler)), undecoded),
		coded("gzip-bad-checksum", "sends gzip with a checksum that is wrong", "gzip", badChecksum(titled), undecoded),
		coded("gzip-padded", "sends gzip and rubbish behind it", "gzip", gzipped(titled)+noise(1000, 3), okTitled("packed")),
		coded("gzip-twice", "packs twice and says once", "gzip", gzipped(gzipped(titled)), untitled),
		coded("gzip-nothing", "says that nothing at all is packed", "gzip", "", untitled),
		coded("gzip-not", "says gzip and sends a plain page", "gzip", titled, okTitled("packed")),
		coded("gzip-rubbish", "sends the mark of gzip and rubbish behind it", "gzip", "\x1f\x8b\x08\x00"+noise(4000, 4), undecoded),
		coded("br-rubbish", "says brotli and sends rubbish", "br", noise(4000, 5), undecoded),
		coded("br-not", "says brotli and sends a plain page", "br", titled, okTitled("packed")),
		coded("br-cut", "sends half a brotli stream as if it were all", "br", half(packed(strings.NewReader(noise(4000, 6)), brotlier)), undecoded),
		coded("zstd-wide", "asks for a window of a terabyte to unpack its page", "zstd", wideFrame+noise(1000, 7), undecoded),
		coded("zstd-rubbish", "sends the mark of zstd and rubbish behind it", "zstd", "\x28\xb5\x2f\xfd\x04\x00"+noise(4000, 8), undecoded),
		coded("deflate-rubbish", "says deflate and sends rubbish", "deflate", "\x78\x9c"+noise(4000, 9), undecoded),
		coded("coding-unknown", "packs by a way that nobody knows", "rot13", "\x1f\x9d\x90"+noise(4000, 11), undecoded),
		coded("coding-none", "says that it packed by a way that nobody knows, and did not", "utf-8", titled, okTitled("packed")),
		coded("coding-long", "says so with a name of 16 KiB", strings.Repeat("x", 16<<10), titled, okTitled("packed")),
		coded("codings-many", "says that it packed 2,000 times", strings.Repeat("gzip, ", 2000)+"gzip", titled, undecoded),
		typed("type-image-in-html", "sends an image as a page", "text/html", "\x89PNG\r\n\x1a\n"+noise(4000, 10), Want{Outcome: "ok", Status: 200, Title: "*"}),
		typed("type-html-in-image", "sends a page as an image", "image/png", titled, Want{Outcome: "ok", Status: 200, Title: "*"}),
		typed("type-none-at-all", "does not say what it sends", "", titled, okTitled("packed")),
		typed("type-rubbish", "says what it sends in rubbish", "///;;;charset=;;=\"", titled, Want{Outcome: "ok", Status: 200, Title: "*"}),
		typed("charset-unknown", "claims a character set that there is none of", "text/html; charset=klingon", titled, okTitled("packed")),
		typed("charset-utf7", "claims the character set that scripts were smuggled in", "text/html; charset=utf-7", titled, okTitled("packed")),
		typed("charset-utf16", "claims a character set that its bytes are not in", "text/html; charset=utf-16", titled, Want{Outcome: "ok", Status: 200, Title: "*"}),
	}
}

func half(text string) string { return text[:len(text)/2] }

func coded(name, does, coding, body string, want Want) Behaviour {
	text := answer("Content-Type: text/html\r\nContent-Encoding: "+coding+"\r\n", body)
	return Behaviour{Name: name, Does: does, serve: page(say(text)), Want: want}
}

// explosive packs its body when it is asked for first.
func explosive(name, does, coding string, body func() string) Behaviour {
	return Behaviour{Name: name, Does: does, Want: bombed, serve: page(func(p *peer, _ string) bool {
		return p.say(answer("Content-Type: text/html\r\nContent-Encoding: "+coding+"\r\n", body()))
	})}
}

func typed(name, does, contentType, body string, want Want) Behaviour {
	fields := ""
	if contentType != "" {
		fields = "Content-Type: " + contentType + "\r\n"
	}
	return Behaviour{Name: name, Does: does, serve: page(say(answer(fields, body))), Want: want}
}
