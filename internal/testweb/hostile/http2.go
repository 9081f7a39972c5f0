package hostile

import (
	"bytes"
	"crypto/tls"
	"io"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// firstWindow is what a client allows before it says anything (RFC 9113, section 6.9.2).
const firstWindow = 65_535

// session is a connection on which HTTP/2 was agreed upon. It is written frame by frame, since a server that is made well
// refuses to misbehave.
type session struct {
	*peer
	framer *http2.Framer
	packed bytes.Buffer // what packer writes
	packer *hpack.Encoder

	window, streamWindow int // what the client allows, of the connection and of a stream when it begins
}

// stream answers one request of a session.
type stream func(s *session, id uint32)

// over2 serves pages by do, and robots.txt by "not found". A client that knows no HTTP/2 gets an ordinary page.
func over2(do stream) serve {
	return talk(func(s *session) bool { return s.framer.WriteSettings() == nil }, do)
}

// talk begins the session by open; false ends it there.
func talk(open func(s *session) bool, do stream) serve {
	return func(p *peer) {
		cfg := &tls.Config{Certificates: []tls.Certificate{p.server.authority.good}, NextProtos: []string{"h2", "http/1.1"}}
		if !p.secure(cfg) {
			return
		}
		if p.nc.(*tls.Conn).ConnectionState().NegotiatedProtocol != "h2" {
			page(say(whole("<title>one</title>")))(p)
			return
		}
		p.site.agreed()
		s := &session{peer: p, framer: http2.NewFramer(p.nc, p.in), window: firstWindow, streamWindow: firstWindow}
		s.packer = hpack.NewEncoder(&s.packed)
		s.framer.AllowIllegalWrites = true
		s.framer.ReadMetaHeaders = hpack.NewDecoder(4<<10, nil)
		preface := make([]byte, len(http2.ClientPreface))
		if _, err := io.ReadFull(p.in, preface); err != nil || string(preface) != http2.ClientPreface {
			return
		}
		if open(s) {
			s.serve(do)
		}
	}
}

// serve reads frames and answers requests.
func (s *session) serve(do stream) {
	for {
		frame, err := s.framer.ReadFrame()
		if err != nil {
			return
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if size, ok := f.Value(http2.SettingInitialWindowSize); ok {
				s.streamWindow = int(size)
			}
			if !f.IsAck() && s.framer.WriteSettingsAck() != nil {
				return
			}
		case *http2.WindowUpdateFrame:
			s.window += int(f.Increment) // none comes for a stream without a body
		case *http2.PingFrame:
			if !f.IsAck() && s.framer.WritePing(true, f.Data) != nil {
				return
			}
		case *http2.MetaHeadersFrame:
			s.answer(f, do)
		}
	}
}

func (s *session) answer(f *http2.MetaHeadersFrame, do stream) {
	path := f.PseudoValue("path")
	s.site.asked(path, 0, false)
	if path == robotsPath {
		s.head(f.StreamID, true, ":status", "404")
		return
	}
	do(s, f.StreamID)
}

// head sends the head of an answer. false: the client is gone.
func (s *session) head(id uint32, end bool, fields ...string) bool {
	return s.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: id, BlockFragment: s.pack(fields...), EndStream: end, EndHeaders: true,
	}) == nil
}

func (s *session) pack(fields ...string) []byte {
	s.packed.Reset()
	for i := 0; i < len(fields); i += 2 {
		_ = s.packer.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}) // to memory
	}
	return s.packed.Bytes()
}

// okHead is the head of a page that is to follow.
func (s *session) okHead(id uint32) bool {
	return s.head(id, false, ":status", "200", "content-type", "text/html")
}

// titled sends a whole page.
func (s *session) titled(id uint32, title string) bool {
	return s.okHead(id) && s.framer.WriteData(id, true, []byte("<title>"+title+"</title>")) == nil
}

// until does something again and again until the client is gone. What the client says meanwhile is read: a flood ends by
// the client's choice, and not because nobody listens.
func (s *session) until(do func() error) {
	s.peer.server.running.Go(func() { _, _ = io.Copy(io.Discard, s.in) })
	for do() == nil {
	}
}

// http2Servers speak HTTP/2, and break it.
func http2Servers() []Behaviour {
	return []Behaviour{
		http2Page("h2-good", "is in order", func(s *session, id uint32) { s.titled(id, "two") }, okTitled("two")),
		http2Page("h2-goaway", "leaves at the first request", func(s *session, id uint32) {
			_ = s.framer.WriteGoAway(0, http2.ErrCodeNo, nil)
			s.end()
		}, gone),
		http2Page("h2-goaway-storm", "leaves again and again, and stays", func(s *session, id uint32) {
			s.until(func() error { return s.framer.WriteGoAway(id, http2.ErrCodeNo, []byte(filler[:1000])) })
		}, notHTTP2),
		http2Page("h2-goaway-late", "answers, and leaves then", func(s *session, id uint32) {
			if s.framer.WriteGoAway(id, http2.ErrCodeNo, nil) == nil && s.titled(id, "late") {
				s.end()
			}
		}, okTitled("late")),
		http2Page("h2-rst", "refuses the stream", func(s *session, id uint32) { _ = s.framer.WriteRSTStream(id, http2.ErrCodeRefusedStream) }, gone),
		http2Page("h2-rst-storm", "resets streams that there are none of", func(s *session, id uint32) {
			n := id
			s.until(func() error { n += 2; return s.framer.WriteRSTStream(n, http2.ErrCodeCancel) })
		}, notHTTP2),
		http2Page("h2-rst-in-body", "resets the stream in the middle of its body", func(s *session, id uint32) {
			if s.okHead(id) && s.framer.WriteData(id, false, []byte("<title>cut</title>")) == nil {
				_ = s.framer.WriteRSTStream(id, http2.ErrCodeInternal)
			}
		}, cut("disconnect")),
		http2Page("h2-close-in-body", "closes in the middle of a body", func(s *session, id uint32) {
			if s.okHead(id) && s.framer.WriteData(id, false, []byte("<title>cut</title>")) == nil {
				s.end()
			}
		}, cut("disconnect")),
		http2Page("h2-ping-flood", "pings without end", func(s *session, id uint32) {
			s.until(func() error { return s.framer.WritePing(false, [8]byte{1}) })
		}, notHTTP2),
		http2Page("h2-settings-flood", "changes its settings without end", func(s *session, id uint32) {
			s.until(func() error { return s.framer.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 20_000}) })
		}, notHTTP2),
		http2Page("h2-empty-data", "sends data frames of nothing, without end", func(s *session, id uint32) {
			s.okHead(id)
			s.until(func() error { return s.framer.WriteData(id, false, nil) })
		}, cut("disconnect")),
		http2Page("h2-silent", "takes the request and says nothing", func(*session, uint32) {}, failed("timeout", "head")),
		http2Page("h2-stall", "sends half a body and says nothing more", func(s *session, id uint32) {
			if s.okHead(id) {
				_ = s.framer.WriteData(id, false, []byte("<title>half</title>"))
			}
		}, cut("time")),
		http2Page("h2-endless-body", "sends a body without end, as fast as it may", func(s *session, id uint32) {
			s.okHead(id)
			s.flow(id)
		}, cut("length")),
		http2Page("h2-past-window", "sends more than it was allowed to", func(s *session, id uint32) {
			s.okHead(id)
			s.until(func() error { return s.framer.WriteData(id, false, []byte(filler[:16<<10])) })
		}, cut("disconnect")),
		http2Page("h2-header-bomb", "names one large field of its table a thousand times", func(s *session, id uint32) {
			fields := []string{":status", "200"}
			for range 4000 {
				fields = append(fields, "x-bomb", strings.Repeat("b", 3000))
			}
			block := bytes.Clone(s.pack(fields...)) // the table makes some 10 KB of it
			_ = s.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndStream: true, EndHeaders: true})
		}, tooLong),
		http2Page("h2-continuation-flood", "goes on with its head without end", func(s *session, id uint32) {
			_ = s.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: bytes.Clone(s.pack(":status", "200"))})
			s.until(func() error {
				return s.framer.WriteContinuation(id, false, bytes.Clone(s.pack("x-more", strings.Repeat("m", 1000))))
			})
		}, failed("head_too_long|bad_head", "head")),
		http2Page("h2-interim-flood", "sends interim answers without end", func(s *session, id uint32) {
			s.until(func() error {
				if !s.head(id, false, ":status", "103", "link", "</x>") {
					return io.ErrClosedPipe
				}
				return nil
			})
		}, tooLong),
		http2Page("h2-data-first", "sends data before a head", func(s *session, id uint32) { _ = s.framer.WriteData(id, true, []byte(forged)) }, notHTTP2),
		http2Page("h2-push", "pushes what nobody asked for", func(s *session, id uint32) {
			block := s.pack(":method", "GET", ":scheme", "https", ":authority", "h2-push.test", ":path", "/next")
			_ = s.framer.WritePushPromise(http2.PushPromiseParam{StreamID: id, PromiseID: 2, BlockFragment: block, EndHeaders: true})
			s.titled(2, Forged)
			s.titled(id, "pushed")
		}, notHTTP2),
		http2Page("h2-other-stream", "answers a request that nobody made", func(s *session, id uint32) {
			s.titled(id+100, Forged)
		}, notHTTP2),
		http2Page("h2-no-status", "sends a head without a status", func(s *session, id uint32) { s.head(id, true, "x-a", "b") }, notHTTP2),
		http2Page("h2-status-letters", "has a status in letters", func(s *session, id uint32) { s.head(id, true, ":status", "two") }, notHTTP2),
		http2Page("h2-upper-case", "has a field name in upper case", func(s *session, id uint32) { s.head(id, true, ":status", "200", "X-Upper", "b") }, notHTTP2),
		http2Page("h2-length-differs", "tells another length than it sends", func(s *session, id uint32) {
			if s.head(id, false, ":status", "200", "content-length", "1000") {
				_ = s.framer.WriteData(id, true, []byte("short"))
			}
		}, cut("disconnect")),
		http2Page("h2-hpack-broken", "sends a head that cannot be unpacked", func(s *session, id uint32) {
			_ = s.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte("\xff\xff\xff\xff\xff\xff\xff\xff"), EndHeaders: true, EndStream: true})
		}, notHTTP2),
		http2Page("h2-frame-long", "sends a frame that is longer than one may be", func(s *session, id uint32) {
			s.okHead(id)
			_ = s.framer.WriteRawFrame(http2.FrameData, 0, id, make([]byte, 1<<20))
		}, cut("disconnect")),
		http2Page("h2-frame-unknown", "sends frames of a kind that there is none of", func(s *session, id uint32) {
			_ = s.framer.WriteRawFrame(0xee, 0xff, id, []byte("what is this"))
			s.titled(id, "unknown")
		}, okTitled("unknown")),
		http2Page("h2-window-overflow", "allows more than there can be", func(s *session, id uint32) {
			_ = s.framer.WriteWindowUpdate(id, 1<<31-1)
			_ = s.framer.WriteWindowUpdate(id, 1<<31-1)
		}, failed("timeout", "head")),
		http2Page("h2-window-nothing", "allows nothing more, again and again", func(s *session, id uint32) {
			_ = s.framer.WriteWindowUpdate(id, 0)
		}, failed("timeout", "head")),
		http2Page("h2-trailers", "sends trailers that would change the head", func(s *session, id uint32) {
			if s.okHead(id) && s.framer.WriteData(id, false, []byte("<title>trailed</title>")) == nil {
				s.head(id, true, "location", "http://x.test/")
			}
		}, okTitled("trailed")),
		http2Opening("h2-preface-rubbish", "begins with rubbish", func(s *session) bool {
			s.say(noise(4000, 14))
			s.end()
			return false
		}, notHTTP2),
		http2Opening("h2-preface-silent", "never begins", func(s *session) bool { s.hold(); return false }, failed("timeout", "head")),
		http2Opening("h2-preface-http1", "agrees on HTTP/2 and speaks HTTP/1.1", func(s *session) bool {
			s.say(whole("<title>" + Forged + "</title>"))
			s.end()
			return false
		}, notHTTP2),
		http2Opening("h2-goaway-at-once", "leaves before it is asked", func(s *session) bool {
			_ = s.framer.WriteSettings()
			_ = s.framer.WriteGoAway(0, http2.ErrCodeNo, nil)
			s.end()
			return false
		}, gone),
		http2Opening("h2-no-streams", "allows no request at all", func(s *session) bool {
			return s.framer.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0}) == nil
		}, Want{Outcome: "ok|failed", Code: "|timeout|bad_head|other", Phase: "|head|write", Status: 200, Title: "*"}), // it may be asked before it has said so
		http2Opening("h2-settings-odd", "has settings that no server may have", func(s *session) bool {
			return s.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<32 - 1},
				http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1}) == nil
		}, notHTTP2),
		http2Opening("h2-window-zero", "lets the client send nothing, which a request without a body does not need", func(s *session) bool {
			return s.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}) == nil
		}, okTitled("two")),
		http2Opening("h2-table-huge", "has a table of fields of 4 GB", func(s *session) bool {
			return s.framer.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 1<<32 - 1}) == nil
		}, okTitled("two")),
	}
}

// What a session, or a stream of it, comes to that breaks off before there is a head.
var (
	notHTTP2 = failed("bad_head", "head") // the server breaks the protocol, or floods
	gone     = failed("reset", "head")    // it leaves, or refuses
)

func http2Page(name, does string, do stream, want Want) Behaviour {
	return Behaviour{Name: name, Does: does, HTTPS: true, HTTP2: true, serve: over2(do), Want: want}
}

func http2Opening(name, does string, open func(*session) bool, want Want) Behaviour {
	return Behaviour{
		Name: name, Does: does, HTTPS: true, HTTP2: true, Want: want,
		serve: talk(open, func(s *session, id uint32) { s.titled(id, "two") }),
	}
}

// flow sends data as the client's windows allow.
func (s *session) flow(id uint32) {
	data, own := []byte(filler[:16<<10]), s.streamWindow
	for {
		for min(s.window, own) >= len(data) {
			if s.framer.WriteData(id, false, data) != nil {
				return
			}
			s.window, own = s.window-len(data), own-len(data)
		}
		frame, err := s.framer.ReadFrame()
		if err != nil {
			return
		}
		switch f := frame.(type) {
		case *http2.WindowUpdateFrame:
			if f.StreamID == 0 {
				s.window += int(f.Increment)
			} else {
				own += int(f.Increment)
			}
		case *http2.RSTStreamFrame:
			return
		}
	}
}
