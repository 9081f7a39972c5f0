package fetch

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// certificate makes one that signs itself, of edit's choice.
func certificate(t *testing.T, edit func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, IsCA: true, BasicConstraintsValid: true,
	}
	edit(c)
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func tlsServer(t *testing.T, address string, cfg *tls.Config, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("cannot listen on %s: %v", address, err)
	}
	srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}, TLS: cfg}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv
}

func sayHello(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }

// TestCertificates: what is wrong with a certificate is said in plain words, with what accepts it.
func TestCertificates(t *testing.T) {
	day := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.DateOnly) }
	for _, tt := range []struct {
		name   string
		edit   func(*x509.Certificate)
		trust  bool
		reason string // empty: it is good
	}{
		{"good, for an address", func(*x509.Certificate) {}, true, ""},
		{"expired", func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-30 * time.Minute) }, true, "certificate expired on " + day(-30*time.Minute)},
		{"too early", func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Now().Add(48*time.Hour), time.Now().Add(72*time.Hour)
		}, true, "certificate is not valid before " + day(48*time.Hour)},
		{"for others", func(c *x509.Certificate) {
			c.IPAddresses, c.DNSNames = nil, []string{"a.test", "b.test", "c.test", "d.test", "e.test"}
		}, true,
			"certificate is for a.test, b.test, c.test and 2 more, not for 127.0.0.1"},
		{"for nobody", func(c *x509.Certificate) { c.IPAddresses = nil }, true, "certificate is for no host, not for 127.0.0.1"},
		{"signed by itself", func(*x509.Certificate) {}, false, "certificate is signed by itself"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cert := certificate(t, tt.edit)
			srv := tlsServer(t, "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}}, sayHello)
			c := newClient(t, Config{})
			c.tls.RootCAs = x509.NewCertPool()
			if tt.trust {
				c.tls.RootCAs.AddCert(cert.Leaf)
			}
			u := mustParse(t, srv.URL)
			if tt.reason == "" {
				wantHello(t, c, u)
				return
			}
			_, err := c.Fetch(t.Context(), Request{URL: u})
			if e := wantError(t, err, PhaseTLS, CodeCertificate); e.Err.Error() != tt.reason+" (--insecure accepts it)" || e.Transient {
				t.Errorf("%v, want %s", e.Err, tt.reason)
			}
			wantHello(t, newClient(t, Config{InsecureTLS: true}), u)
		})
	}
}

// TestUnknownAuthority: a certificate that another one signed, which nobody knows, names that one.
func TestUnknownAuthority(t *testing.T) {
	got := unknownAuthority(&x509.Certificate{Subject: pkix.Name{CommonName: "a"}, Issuer: pkix.Name{CommonName: "b"}})
	if want := `certificate is of an unknown authority: "CN=b"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestAddressesInTLS: a host that is an address is sent no name, and its certificate is checked for the address.
func TestAddressesInTLS(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		cert := certificate(t, func(*x509.Certificate) {})
		srv := tlsServer(t, address, &tls.Config{Certificates: []tls.Certificate{cert}}, func(w http.ResponseWriter, r *http.Request) {
			if r.TLS.ServerName != "" {
				t.Errorf("the name %q was sent", r.TLS.ServerName)
			}
			sayHello(w, r)
		})
		c := newClient(t, Config{})
		c.tls.RootCAs = x509.NewCertPool()
		c.tls.RootCAs.AddCert(cert.Leaf)
		wantHello(t, c, mustParse(t, srv.URL))
	}
}

// TestResumption: a connection that follows another one, also once that has been closed, resumes its session.
func TestResumption(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, h2 := range []bool{false, true} {
			var mu sync.Mutex
			var resumed []bool
			cfg := &tls.Config{Certificates: []tls.Certificate{certificate(t, func(*x509.Certificate) {})}, MaxVersion: version}
			if h2 {
				cfg.NextProtos = []string{"h2"}
			}
			srv := tlsServer(t, "127.0.0.1:0", cfg, func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				resumed = append(resumed, r.TLS.DidResume)
				sayHello(w, r)
			})
			c := newClient(t, Config{InsecureTLS: true})
			for range 3 {
				wantHello(t, c, mustParse(t, srv.URL))
				c.idle.closeAll()
			}
			if len(resumed) != 3 || resumed[0] || !resumed[1] || !resumed[2] {
				t.Errorf("%s, HTTP/2 %v: resumed %v", tls.VersionName(version), h2, resumed)
			}
		}
	}
}

// TestOldTLS: what browsers no longer speak, we do not.
func TestOldTLS(t *testing.T) {
	srv := tlsServer(t, "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate(t, func(*x509.Certificate) {})}, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}, sayHello)
	_, err := newClient(t, Config{InsecureTLS: true}).Fetch(t.Context(), Request{URL: mustParse(t, srv.URL)})
	if e := wantError(t, err, PhaseTLS, CodeTLS); !strings.Contains(e.Error(), "version") {
		t.Error(e)
	}
}
