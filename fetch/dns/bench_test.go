package dns

import (
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// BenchmarkMessages makes a query and reads its answer, an alias and four addresses.
func BenchmarkMessages(b *testing.B) {
	q, err := question("www.example.org", dnsmessage.TypeA)
	if err != nil {
		b.Fatal(err)
	}
	header := func(name string) dnsmessage.ResourceHeader {
		return dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(name), Class: dnsmessage.ClassINET, TTL: 60}
	}
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 7, Response: true, RecursionAvailable: true},
		Questions: []dnsmessage.Question{q},
		Answers:   []dnsmessage.Resource{{Header: header("www.example.org."), Body: &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName("edge.example.net.")}}},
	}
	for i := range 4 {
		m.Answers = append(m.Answers, dnsmessage.Resource{Header: header("edge.example.net."), Body: &dnsmessage.AResource{A: [4]byte{192, 0, 2, byte(i)}}})
	}
	msg, err := m.Pack()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := appendQuery(make([]byte, 0, 512), 7, q, true); err != nil {
			b.Fatal(err)
		}
		if r, err := readReply(msg, 7, q); err != nil || len(r.addrs) != 4 {
			b.Fatal(r, err)
		}
	}
}
