// Package testnet has what stands between a crawler and a site, for tests: a name server and proxies, each on loopback,
// that answer as they are told, wrongly too, and count what they were asked.
package testnet

import (
	"encoding/binary"
	"io"
	"maps"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// Host is what a name server knows of a name.
type Host struct {
	Addrs []string // of both families
	Alias string   // another name, in place of addresses
	TTL   uint32   // seconds

	NoName   bool              // there is no such name
	Negative uint32            // seconds for which it holds that there is nothing; 0: nobody says so
	Code     dnsmessage.RCode  // in place of an answer
	Fault    func(*Reply)      // what is wrong with the answer
	Only     []dnsmessage.Type // asked for others, it keeps silent; empty: none
}

// Reply is an answer as it is about to be sent. A fault changes it.
type Reply struct {
	TCP     bool
	EDNS    bool // the query had an extension
	Message dnsmessage.Message
	Raw     []byte // is sent before it
	Silent  bool   // nothing is sent but Raw
}

// Faults of answers.
var (
	Silent    = func(r *Reply) { r.Silent = true }
	Truncated = func(r *Reply) { // but on TCP
		if !r.TCP {
			r.Message.Truncated, r.Message.Answers = true, nil
		}
	}
	WrongID   = func(r *Reply) { r.Message.ID++ }
	OtherName = func(r *Reply) {
		r.Message.Questions[0].Name = dnsmessage.MustNewName("other.test.")
	}
	Rubbish = func(r *Reply) { r.Raw, r.Silent = []byte("rubbish"), true }
	Forged  = func(r *Reply) { // before the right answer comes one that is not to the question
		forged := r.Message
		forged.ID++
		forged.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: forged.Questions[0].Name, Class: dnsmessage.ClassINET, TTL: 60},
			Body:   &dnsmessage.AResource{A: [4]byte{6, 6, 6, 6}},
		}}
		r.Raw, _ = forged.Pack()
	}
	NoExtensions = func(r *Reply) { // as servers of the last century
		if r.EDNS {
			r.Message = dnsmessage.Message{Header: dnsmessage.Header{ID: r.Message.ID, Response: true, RCode: dnsmessage.RCodeFormatError}}
		}
	}
)

// DNS is a name server. What it does not know does not exist.
type DNS struct {
	udp     net.PacketConn
	tcp     net.Listener
	running sync.WaitGroup

	mu    sync.Mutex // guards all below
	hosts map[string]Host
	asked map[string]int
	conns map[net.Conn]bool
	gone  bool
}

// StartDNS starts a name server on 127.0.0.1.
func StartDNS(hosts map[string]Host) (*DNS, error) {
	var err error
	for range 16 { // the same port for both may be taken
		s := &DNS{hosts: maps.Clone(hosts), asked: make(map[string]int), conns: make(map[net.Conn]bool)}
		if s.hosts == nil {
			s.hosts = make(map[string]Host)
		}
		if s.tcp, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, err
		}
		if s.udp, err = net.ListenPacket("udp", s.tcp.Addr().String()); err != nil {
			s.tcp.Close()
			continue
		}
		s.running.Go(s.serveUDP)
		s.running.Go(s.serveTCP)
		return s, nil
	}
	return nil, err
}

// Addr returns where it listens.
func (s *DNS) Addr() netip.AddrPort { return netip.MustParseAddrPort(s.tcp.Addr().String()) }

// Set has it know h as name.
func (s *DNS) Set(name string, h Host) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts[name] = h
}

// Asked returns how many queries there were for a name and type.
func (s *DNS) Asked(name string, kind dnsmessage.Type) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[name+" "+kind.String()]
}

// Close ends it.
func (s *DNS) Close() {
	s.udp.Close()
	s.tcp.Close()
	s.mu.Lock()
	s.gone = true
	for nc := range s.conns {
		nc.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
}

func (s *DNS) serveUDP() {
	for {
		b := make([]byte, 4096)
		n, from, err := s.udp.ReadFrom(b)
		if err != nil {
			return
		}
		s.running.Go(func() { // one answer that waits holds up no other
			for _, msg := range s.answer(b[:n], false) {
				s.udp.WriteTo(msg, from)
			}
		})
	}
}

func (s *DNS) serveTCP() {
	for {
		nc, err := s.tcp.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.gone {
			nc.Close()
		}
		s.conns[nc] = true
		s.mu.Unlock()
		s.running.Go(func() {
			defer nc.Close()
			nc.SetDeadline(time.Now().Add(time.Minute))
			s.serveConn(nc)
		})
	}
}

func (s *DNS) serveConn(nc net.Conn) {
	for {
		var length [2]byte
		if _, err := io.ReadFull(nc, length[:]); err != nil {
			return
		}
		b := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(nc, b); err != nil {
			return
		}
		for _, msg := range s.answer(b, true) {
			nc.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(msg))), msg...))
		}
	}
}

// answer returns the messages that answer a query.
func (s *DNS) answer(query []byte, tcp bool) (out [][]byte) {
	var q dnsmessage.Message
	if q.Unpack(query) != nil || len(q.Questions) != 1 {
		return nil
	}
	asked := q.Questions[0]
	name := strings.ToLower(strings.TrimSuffix(asked.Name.String(), "."))
	s.mu.Lock()
	s.asked[name+" "+asked.Type.String()]++
	h, known := s.hosts[name]
	s.mu.Unlock()
	if !known {
		h = Host{NoName: true}
	}
	r := &Reply{TCP: tcp, EDNS: len(q.Additionals) > 0, Message: h.message(q.ID, asked)}
	if h.Fault != nil {
		h.Fault(r)
	}
	for _, kind := range h.Only {
		if kind != asked.Type {
			r.Silent = true
		}
	}
	if r.Raw != nil {
		out = append(out, r.Raw)
	}
	if msg, err := r.Message.Pack(); err == nil && !r.Silent {
		out = append(out, msg)
	}
	return out
}

// message is the right answer.
func (h Host) message(id uint16, asked dnsmessage.Question) dnsmessage.Message {
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: id, Response: true, RecursionDesired: true, RecursionAvailable: true, RCode: h.Code},
		Questions: []dnsmessage.Question{asked},
	}
	if h.NoName {
		m.RCode = dnsmessage.RCodeNameError
	}
	header := dnsmessage.ResourceHeader{Name: asked.Name, Class: dnsmessage.ClassINET, TTL: h.TTL}
	if h.Alias != "" {
		m.Answers = append(m.Answers, dnsmessage.Resource{Header: header,
			Body: &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName(h.Alias + ".")}})
	}
	for _, text := range h.Addrs {
		a := netip.MustParseAddr(text)
		switch {
		case a.Is4() && asked.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: a.As4()}})
		case a.Is6() && asked.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	if len(m.Answers) == 0 && h.Negative > 0 {
		zone := dnsmessage.MustNewName("test.")
		m.Authorities = append(m.Authorities, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: zone, Class: dnsmessage.ClassINET, TTL: h.Negative},
			Body:   &dnsmessage.SOAResource{NS: zone, MBox: zone, MinTTL: h.Negative},
		})
	}
	return m
}
