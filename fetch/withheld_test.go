package fetch

import (
	"net/http"
	"strings"
	"testing"
)

// What is captured of a request says that credentials were sent, and not which.
func TestWithheld(t *testing.T) {
	heads := make(chan string, 1)
	p := newPeer(t, func(c *peerConn) {
		head, _ := c.request()
		heads <- head
		c.say("HTTP/1.1 204 No Content\r\n\r\n")
	})
	u := p.url("/a:b?Cookie:c")
	c := newClient(t, Config{
		Capture: true, Trusted: p.trusts, Auth: &Auth{"ann", "s3cret"},
		Fields:        []Field{{Name: "x-key", Value: "s3cret", Secret: true}, {Name: "X-Plain", Value: "plain"}},
		LoadedCookies: []Cookie{{Name: "sid", Value: "s3cret", Domain: "127.0.0.1", HostOnly: true, Path: "/"}},
	})
	res, err := c.Fetch(t.Context(), Request{URL: u, Header: http.Header{"If-None-Match": {`"x"`}}})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Release()
	sent, kept := <-heads, string(res.WireRequest())
	if n := strings.Count(sent, "s3cret"); n != 2 || !strings.Contains(sent, "Authorization: Basic ") {
		t.Errorf("sent with %d secrets:\n%s", n, sent)
	}
	for _, line := range []string{
		"GET /a:b?Cookie:c HTTP/1.1\r\n", "X-Plain: plain\r\n", "Authorization: (withheld)\r\n", "X-Key: (withheld)\r\n", "Cookie: (withheld)\r\n",
		"If-None-Match: \"x\"\r\n",
	} {
		if !strings.Contains(kept, line) {
			t.Errorf("%q is not in\n%s", line, kept)
		}
	}
	if strings.Contains(kept, "s3cret") || strings.Contains(kept, "Basic ") || !strings.HasSuffix(kept, "\r\n\r\n") {
		t.Errorf("kept is\n%s", kept)
	}
	if strings.Count(kept, "\r\n") != strings.Count(sent, "\r\n") {
		t.Errorf("sent\n%s\nkept\n%s", sent, kept)
	}
}
