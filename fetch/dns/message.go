package dns

import (
	"errors"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

var (
	errForeign = errors.New("no answer to what was asked")
	errLoop    = errors.New("aliases that lead nowhere")
)

const (
	// payloadBytes is the answer that we take by UDP: more may be lost as fragments (RFC 9715, section 3.1).
	payloadBytes = 1232

	maxRecords = 512 // of an answer are looked at
	maxAliases = 16  // lead from a name to its addresses
	maxAddrs   = 16  // of a name and family are kept
)

// appendQuery appends a query for q. edns says that we take longer answers (RFC 6891).
func appendQuery(b []byte, id uint16, q dnsmessage.Question, edns bool) ([]byte, error) {
	m := dnsmessage.NewBuilder(b, dnsmessage.Header{ID: id, RecursionDesired: true})
	err := m.StartQuestions()
	if err == nil {
		err = m.Question(q)
	}
	if err == nil && edns {
		err = m.StartAdditionals()
		var h dnsmessage.ResourceHeader
		if err == nil {
			err = h.SetEDNS0(payloadBytes, dnsmessage.RCodeSuccess, false)
		}
		if err == nil {
			err = m.OPTResource(h, dnsmessage.OPTResource{})
		}
	}
	if err != nil {
		return nil, err
	}
	return m.Finish()
}

// reply is what a server answered.
type reply struct {
	rcode     dnsmessage.RCode
	truncated bool
	lame      bool // the server does not know, and will not ask

	addrs    []netip.Addr
	ttl      time.Duration // the least on the way to addrs, or to last
	aliases  int           // that were followed
	last     string        // the name that they lead to
	negative time.Duration // how long it holds that there are no addresses
	hasSOA   bool          // and who says so
}

// readReply reads the answer to q, which was sent under id. errForeign: it is something else, or cannot be read.
func readReply(msg []byte, id uint16, q dnsmessage.Question) (reply, error) {
	var p dnsmessage.Parser
	h, err := p.Start(msg)
	if err != nil || h.ID != id || !h.Response || h.OpCode != 0 {
		return reply{}, errForeign
	}
	asked, err := p.Question()
	switch {
	case errors.Is(err, dnsmessage.ErrSectionDone) && h.RCode == dnsmessage.RCodeFormatError:
		return reply{rcode: h.RCode}, nil // an old server that could not read it (RFC 6891, section 7)
	case err != nil || asked.Type != q.Type || asked.Class != q.Class || !sameName(asked.Name, q.Name):
		return reply{}, errForeign
	}
	r := reply{rcode: h.RCode, truncated: h.Truncated}
	if r.truncated {
		return r, nil // what there is of it is of no use
	}
	if err := p.SkipAllQuestions(); err != nil {
		return reply{}, errForeign
	}
	records, err := readAnswers(&p, q.Type)
	if err != nil {
		return reply{}, errForeign
	}
	if err := r.follow(records, fold(q.Name)); err != nil {
		return reply{}, err
	}
	r.readRest(&p)
	r.lame = r.rcode == dnsmessage.RCodeSuccess && len(r.addrs) == 0 && r.aliases == 0 && !r.hasSOA && !h.Authoritative && !h.RecursionAvailable
	return r, nil
}

// alias is a CNAME record.
type alias struct {
	to  string
	ttl time.Duration
}

// records are those of an answer, by the folded name of their owner.
type records struct {
	aliases map[string]alias
	addrs   map[string][]netip.Addr
	ttls    map[string]time.Duration // the least of a name's addresses
}

func readAnswers(p *dnsmessage.Parser, kind dnsmessage.Type) (records, error) {
	rs := records{map[string]alias{}, map[string][]netip.Addr{}, map[string]time.Duration{}}
	for range maxRecords {
		h, err := p.AnswerHeader()
		if errors.Is(err, dnsmessage.ErrSectionDone) {
			return rs, nil
		}
		if err != nil {
			return rs, err
		}
		if err := rs.read(p, h, kind); err != nil {
			return rs, err
		}
	}
	return rs, p.SkipAllAnswers()
}

// read takes the record with that header.
func (rs *records) read(p *dnsmessage.Parser, h dnsmessage.ResourceHeader, kind dnsmessage.Type) error {
	owner := fold(h.Name)
	switch {
	case h.Class != dnsmessage.ClassINET:
		return p.SkipAnswer()
	case h.Type == dnsmessage.TypeCNAME:
		cname, err := p.CNAMEResource()
		if _, twice := rs.aliases[owner]; err == nil && !twice {
			rs.aliases[owner] = alias{fold(cname.CNAME), seconds(h.TTL)}
		}
		return err
	case h.Type != kind:
		return p.SkipAnswer()
	case kind == dnsmessage.TypeA:
		a, err := p.AResource()
		if err == nil {
			rs.add(owner, netip.AddrFrom4(a.A), seconds(h.TTL))
		}
		return err
	default:
		a, err := p.AAAAResource()
		if err == nil {
			rs.add(owner, netip.AddrFrom16(a.AAAA).Unmap(), seconds(h.TTL))
		}
		return err
	}
}

func (rs *records) add(owner string, a netip.Addr, ttl time.Duration) {
	if before, ok := rs.ttls[owner]; !ok || ttl < before {
		rs.ttls[owner] = ttl
	}
	if len(rs.addrs[owner]) < maxAddrs {
		rs.addrs[owner] = append(rs.addrs[owner], a)
	}
}

// follow goes from name by its aliases to addresses. Records of other names do not count.
func (r *reply) follow(rs records, name string) error {
	r.ttl, r.last = maxTTL, name
	for {
		if addrs := rs.addrs[r.last]; len(addrs) > 0 {
			r.addrs, r.ttl = addrs, min(r.ttl, rs.ttls[r.last])
			return nil
		}
		next, ok := rs.aliases[r.last]
		if !ok {
			return nil
		}
		if r.aliases++; r.aliases > maxAliases {
			return errLoop
		}
		r.ttl, r.last = min(r.ttl, next.ttl), next.to
	}
}

// readRest reads who says that there is nothing (RFC 2308, section 5), and the rest of the code (RFC 6891, section 6.1.3).
// What cannot be read there does no harm.
func (r *reply) readRest(p *dnsmessage.Parser) {
	for range maxRecords {
		h, err := p.AuthorityHeader()
		if err != nil {
			break
		}
		if h.Type != dnsmessage.TypeSOA {
			if p.SkipAuthority() != nil {
				break
			}
			continue
		}
		soa, err := p.SOAResource()
		if err != nil {
			break
		}
		r.hasSOA, r.negative = true, min(seconds(h.TTL), seconds(soa.MinTTL), r.ttl)
	}
	if p.SkipAllAuthorities() != nil {
		return
	}
	for range maxRecords {
		h, err := p.AdditionalHeader()
		if err != nil {
			return
		}
		if h.Type == dnsmessage.TypeOPT {
			r.rcode = h.ExtendedRCode(r.rcode)
			return
		}
		if p.SkipAdditional() != nil {
			return
		}
	}
}

// seconds reads a time to live. One with its highest bit set is zero (RFC 2181, section 8).
func seconds(ttl uint32) time.Duration {
	if ttl > 1<<31-1 {
		return 0
	}
	return time.Duration(ttl) * time.Second
}

// fold returns a name in lower case, without the dot at its end.
func fold(n dnsmessage.Name) string { return strings.ToLower(strings.TrimSuffix(n.String(), ".")) }

func sameName(a, b dnsmessage.Name) bool { return fold(a) == fold(b) }
