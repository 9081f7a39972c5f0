package fetch

import (
	"context"
	"crypto/tls"
	"strings"
	"time"
)

// secure does the TLS handshake on cn, and begins HTTP/2 where that was agreed upon, within its time.
func (c *Client) secure(ctx context.Context, cn *conn, h hop) error {
	start := time.Now()
	by := earlier(start.Add(c.cfg.TLSTimeout), h.deadline)
	ctx, cancel := context.WithDeadline(ctx, by)
	defer cancel()
	protocol, err := cn.handshake(ctx, c.tls, h.URL.Hostname())
	if err == nil && protocol == "h2" && c.h2 != nil {
		err = c.speak(ctx, cn, by)
	}
	if err != nil {
		return overdue(err, "no handshake", by.Sub(start))
	}
	if cn.h2 != nil {
		c.idle.share(cn)
	}
	return nil
}

// handshake puts TLS on the connection, and returns the protocol that is spoken over it, if one was agreed upon.
func (cn *conn) handshake(ctx context.Context, base *tls.Config, hostname string) (protocol string, err error) {
	cfg := base.Clone()
	cfg.ServerName = strings.TrimSuffix(hostname, ".")
	secure := tls.Client(cn.raw, cfg)
	if err := secure.HandshakeContext(ctx); err != nil {
		return "", explainCertificate(err, hostname)
	}
	cn.nc, cn.secure = secure, true
	return secure.ConnectionState().NegotiatedProtocol, nil
}
