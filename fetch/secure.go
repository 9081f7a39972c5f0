package fetch

import (
	"context"
	"crypto/tls"
	"strings"
	"time"
)

// secure does the TLS handshake on cn, within its time.
func (c *Client) secure(ctx context.Context, cn *conn, h hop) error {
	start := time.Now()
	by := earlier(start.Add(c.cfg.TLSTimeout), h.deadline)
	ctx, cancel := context.WithDeadline(ctx, by)
	defer cancel()
	return overdue(cn.handshake(ctx, c.tls, h.URL.Hostname()), "no handshake", by.Sub(start))
}

// handshake puts TLS on the connection.
func (cn *conn) handshake(ctx context.Context, base *tls.Config, hostname string) error {
	cfg := base.Clone()
	cfg.ServerName = strings.TrimSuffix(hostname, ".")
	secure := tls.Client(cn.raw, cfg)
	if err := secure.HandshakeContext(ctx); err != nil {
		return err
	}
	cn.nc, cn.secure = secure, true
	return nil
}
