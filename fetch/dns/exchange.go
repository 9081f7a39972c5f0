package dns

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// maxForeign is how many messages that answer something else are passed over.
const maxForeign = 256

// ask asks one server, by UDP and, where the answer does not fit, by TCP. A server that cannot read our extension is asked
// again without it. Whatever comes that is not the answer is passed over: it may be forged.
func ask(ctx context.Context, server netip.AddrPort, q dnsmessage.Question, tcp bool) (reply, error) {
	r, err := askOnce(ctx, server, q, tcp, true)
	if err == nil && (r.rcode == dnsmessage.RCodeFormatError || r.rcode == dnsmessage.RCodeNotImplemented) {
		r, err = askOnce(ctx, server, q, tcp, false)
	}
	return r, err
}

func askOnce(ctx context.Context, server netip.AddrPort, q dnsmessage.Question, tcp, edns bool) (reply, error) {
	if !tcp {
		r, err := exchange(ctx, "udp", server, q, edns)
		if err != nil || !r.truncated {
			return r, err
		}
	}
	r, err := exchange(ctx, "tcp", server, q, edns)
	if err == nil && r.truncated {
		err = errors.New("truncated on TCP")
	}
	return r, err
}

// exchange sends a query from a port of its own, under a number that nobody can guess, and waits for its answer.
func exchange(ctx context.Context, network string, server netip.AddrPort, q dnsmessage.Question, edns bool) (reply, error) {
	var number [2]byte
	rand.Read(number[:]) // never fails
	id := binary.BigEndian.Uint16(number[:])
	const prefix = 2 // the length, on TCP alone
	msg, err := appendQuery(make([]byte, prefix, 512), id, q, edns)
	if err != nil {
		return reply{}, err
	}
	var d net.Dialer
	nc, err := d.DialContext(ctx, network, server.String())
	if err != nil {
		return reply{}, err
	}
	defer nc.Close()
	stop := context.AfterFunc(ctx, func() { nc.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if network == "udp" {
		if _, err := nc.Write(msg[prefix:]); err != nil {
			return reply{}, err
		}
		return receive(nc, id, q)
	}
	binary.BigEndian.PutUint16(msg, uint16(len(msg)-prefix))
	if _, err := nc.Write(msg); err != nil {
		return reply{}, err
	}
	return receiveStream(nc, id, q)
}

func receive(nc net.Conn, id uint16, q dnsmessage.Question) (reply, error) {
	b := make([]byte, 4096) // some send more than they were told
	for range maxForeign {
		n, err := nc.Read(b)
		if err != nil {
			return reply{}, err
		}
		if r, err := readReply(b[:n], id, q); err != errForeign {
			return r, err
		}
	}
	return reply{}, errForeign
}

func receiveStream(nc net.Conn, id uint16, q dnsmessage.Question) (reply, error) {
	var length [2]byte
	if _, err := io.ReadFull(nc, length[:]); err != nil {
		return reply{}, err
	}
	b := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(nc, b); err != nil {
		return reply{}, err
	}
	return readReply(b, id, q)
}
