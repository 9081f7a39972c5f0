package hostile

import (
	"crypto/tls"
	"strings"
)

var (
	noTLS     = failed("tls", "tls")
	distrust  = failed("certificate", "tls")
	tlsBroken = failed("tls", "head") // after a handshake that went well
)

// handshakes are those of each broken kind of TLS.
func handshakes() []Behaviour {
	return []Behaviour{
		certified("tls-good", "has a certificate that is in order", func(a *authority) tls.Certificate { return a.good }, okTitled("secure")),
		certified("tls-expired", "has a certificate that was good once", func(a *authority) tls.Certificate { return a.expired }, distrust),
		certified("tls-early", "has a certificate that will be good once", func(a *authority) tls.Certificate { return a.early }, distrust),
		certified("tls-stranger", "has a certificate of another host", func(a *authority) tls.Certificate { return a.stranger }, distrust),
		certified("tls-self-signed", "has a certificate that only it vouches for", func(a *authority) tls.Certificate { return a.selfSigned }, distrust),
		certified("tls-unknown", "has a certificate of an authority that nobody knows", func(a *authority) tls.Certificate { return a.unknown }, distrust),
		certified("tls-enormous", "has a chain of 1,001 certificates", func(a *authority) tls.Certificate { return a.enormous },
			noTLS),
		handshake("tls-1.0", "knows no newer version than 1.0", func(p *peer) {
			p.secure(&tls.Config{
				Certificates: []tls.Certificate{p.server.authority.good}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS10,
			})
			p.end()
		}, noTLS),
		handshake("tls-old-cipher", "knows no cipher that is still safe", func(p *peer) {
			p.secure(&tls.Config{
				Certificates: []tls.Certificate{p.server.authority.good}, MaxVersion: tls.VersionTLS12,
				CipherSuites: []uint16{tls.TLS_RSA_WITH_RC4_128_SHA},
			})
			p.end()
		}, noTLS),
		handshake("tls-client-certificate", "asks for a certificate of the client's", func(p *peer) {
			p.secure(&tls.Config{Certificates: []tls.Certificate{p.server.authority.good}, ClientAuth: tls.RequireAnyClientCert})
			p.end()
		}, failed("tls|reset|closed", "tls|head|write")),
		handshake("tls-stall", "accepts and never shakes hands", (*peer).hold, failed("timeout", "tls")),
		handshake("tls-drip", "shakes hands byte by byte, without end", func(p *peer) {
			if p.say("\x16\x03\x03\x40\x00\x02\x00\xff\xf0\x03\x03") { // a ServerHello that is to be as long as can be
				p.drip(filler, tick)
			}
		}, failed("timeout", "tls")),
		handshake("tls-close", "closes in the handshake", hello((*peer).end), failed("closed", "tls")),
		handshake("tls-reset", "resets in the handshake", hello((*peer).reset), failed("reset", "tls")),
		handshake("tls-rubbish", "answers the handshake with rubbish", hello(func(p *peer) {
			p.say(noise(4000, 12))
			p.end()
		}), noTLS),
		handshake("tls-plain", "speaks plain HTTP where TLS belongs", hello(func(p *peer) {
			p.say("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
			p.end()
		}), noTLS),
		handshake("tls-alert", "refuses by an alert", hello(func(p *peer) {
			p.say("\x15\x03\x03\x00\x02\x02\x28")
			p.end()
		}), noTLS),
		handshake("tls-warnings", "warns without end", hello(func(p *peer) { p.forever(strings.Repeat("\x15\x03\x03\x00\x02\x01\x70", 100)) }), noTLS),
		handshake("tls-record-long", "sends a record that is longer than one may be", hello(func(p *peer) {
			p.forever("\x16\x03\x03\xff\xff" + filler[:0x7000])
		}), noTLS),
		handshake("tls-message-long", "sends a handshake message of 16 MiB", hello(func(p *peer) {
			p.say("\x16\x03\x03\x40\x00\x02\xff\xff\xff" + filler[:0x4000-4])
			p.forever("\x16\x03\x03\x40\x00" + filler[:0x4000])
		}), noTLS),
		shaken("tls-plain-behind", "shakes hands and speaks plain HTTP then", func(p *peer) { p.raw.Write([]byte(whole(Forged))); p.hold() }, tlsBroken),
		shaken("tls-rubbish-behind", "shakes hands and sends rubbish then", func(p *peer) {
			p.raw.Write([]byte("\x17\x03\x03\x00\x40" + noise(64, 13)))
			p.hold()
		}, tlsBroken),
		shaken("tls-end-behind", "shakes hands and ends the connection without a word", func(p *peer) { p.raw.CloseWrite(); p.hold() }, failed("closed", "head")),
		shaken("tls-reset-behind", "shakes hands and resets", (*peer).reset, failed("reset", "head")),
		shaken("tls-cut", "ends a body without the end of TLS, as popular sites do", func(p *peer) {
			p.say(untilClose + "<title>cut</title>")
			p.raw.CloseWrite()
			p.hold()
		}, okTitled("cut")),
		shaken("tls-whole", "ends a body by the end of TLS", func(p *peer) {
			p.say(untilClose + "<title>whole</title>")
			p.end()
		}, okTitled("whole")),
		{
			Name: "tls-on-plain", Does: "speaks TLS where plain HTTP belongs", Want: notHTTP,
			serve: func(p *peer) {
				if _, err := p.request(); err == nil {
					p.say("\x15\x03\x01\x00\x02\x02\x46")
					p.end()
				}
			},
		},
	}
}

func handshake(name, does string, do serve, want Want) Behaviour {
	return Behaviour{Name: name, Does: does, HTTPS: true, serve: do, Want: want}
}

// hello reads the start of the client's part in the handshake before do.
func hello(do func(*peer)) serve {
	return func(p *peer) {
		if _, err := p.in.Peek(5); err == nil {
			do(p)
		}
	}
}

func certified(name, does string, which func(*authority) tls.Certificate, want Want) Behaviour {
	return handshake(name, does, func(p *peer) {
		if p.secure(&tls.Config{Certificates: []tls.Certificate{which(p.server.authority)}}) {
			page(say(whole("<title>secure</title>")))(p)
		}
	}, want)
}

// shaken shakes hands, answers robots.txt, and has do for the page.
func shaken(name, does string, do func(*peer), want Want) Behaviour {
	return handshake(name, does, func(p *peer) {
		if p.secure(&tls.Config{Certificates: []tls.Certificate{p.server.authority.good}}) {
			page(after("", do))(p)
		}
	}, want)
}
