package hostile

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"time"
)

// authority signs the certificates of the servers. They are made before a crawl begins, since that takes its time.
type authority struct {
	key  *ecdsa.PrivateKey
	root *x509.Certificate

	good, expired, early, stranger, selfSigned, unknown, enormous tls.Certificate
}

func newAuthority() (*authority, error) {
	a, err := newRoot("hostile.test root")
	if err != nil {
		return nil, err
	}
	other, err := newRoot("nobody's root")
	if err != nil {
		return nil, err
	}
	day := 24 * time.Hour
	for _, c := range []struct {
		into     *tls.Certificate
		by       *authority
		name     string
		from, to time.Duration // from now
	}{
		{&a.good, a, "*.test", -day, day},
		{&a.expired, a, "*.test", -3 * day, -2 * day},
		{&a.early, a, "*.test", 2 * day, 3 * day},
		{&a.stranger, a, "www.example", -day, day},
		{&a.selfSigned, nil, "*.test", -day, day},
		{&a.unknown, other, "*.test", -day, day},
	} {
		if *c.into, err = newLeaf(c.by, c.name, c.from, c.to); err != nil {
			return nil, err
		}
	}
	a.enormous = a.good
	for range 1000 { // of some 400 bytes each
		a.enormous.Certificate = append(a.enormous.Certificate, a.unknown.Certificate[0])
	}
	return a, nil
}

func newRoot(name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-30 * 24 * time.Hour), NotAfter: time.Now().Add(30 * 24 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	root, err := x509.ParseCertificate(der)
	return &authority{key: key, root: root}, err
}

// newLeaf returns a certificate that by signs, or that signs itself.
func newLeaf(by *authority, name string, from, to time.Duration) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(from), NotAfter: time.Now().Add(to),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	parent, signer := template, key
	if by != nil {
		parent, signer = by.root, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// secure puts TLS on the connection, as cfg says. false: it came to nothing.
func (p *peer) secure(cfg *tls.Config) bool {
	secure := tls.Server(p.nc, cfg)
	if secure.Handshake() != nil {
		return false
	}
	p.speakThrough(secure)
	return true
}

func (p *peer) speakThrough(nc net.Conn) {
	p.nc = nc
	p.in.Reset(nc)
}
