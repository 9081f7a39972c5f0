package dns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"

	"crawl/internal/testnet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a name server for the test.
func serve(t *testing.T, hosts map[string]testnet.Host) *testnet.DNS {
	t.Helper()
	s, err := testnet.StartDNS(hosts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// resolver asks the given servers, and no file of the system.
func resolver(cfg Config, servers ...*testnet.DNS) *Resolver {
	for _, s := range servers {
		cfg.Servers = append(cfg.Servers, s.Addr())
	}
	r := New(cfg)
	r.system = &system{servers: cfg.Servers}
	return r
}

func addrs(texts ...string) (list []netip.Addr) {
	for _, text := range texts {
		list = append(list, netip.MustParseAddr(text))
	}
	return list
}

// kindOf names how a look-up ended.
func kindOf(err error) string {
	dnsErr, isDNS := errors.AsType[*net.DNSError](err)
	switch {
	case err == nil:
		return "found"
	case !isDNS:
		return fmt.Sprintf("%T", err)
	case dnsErr.IsNotFound:
		return "not found"
	case dnsErr.IsTimeout:
		return "timeout"
	}
	return "failed"
}

func loop(n int) map[string]testnet.Host {
	hosts := map[string]testnet.Host{}
	for i := range n {
		hosts[fmt.Sprintf("c%d.test", i)] = testnet.Host{Alias: fmt.Sprintf("c%d.test", i+1), TTL: 60}
	}
	return hosts
}

func TestAnswers(t *testing.T) {
	hosts := map[string]testnet.Host{
		"a.test":         {Addrs: []string{"192.0.2.1", "2001:db8::1", "192.0.2.2"}, TTL: 600},
		"four.test":      {Addrs: []string{"192.0.2.1"}, TTL: 600},
		"six.test":       {Addrs: []string{"2001:db8::1"}, TTL: 600},
		"mapped.test":    {Addrs: []string{"::ffff:192.0.2.1"}, TTL: 600},
		"empty.test":     {Negative: 700},
		"nothing.test":   {NoName: true, Negative: 700},
		"alias.test":     {Alias: "a.test", TTL: 400},
		"dangling.test":  {Alias: "gone.test", TTL: 400},
		"badalias.test":  {Alias: strings.Repeat("x", 60), TTL: 400},
		"self.test":      {Alias: "self.test", TTL: 60},
		"end.test":       {Addrs: []string{"192.0.2.7"}, TTL: 60},
		"servfail.test":  {Code: dnsmessage.RCodeServerFailure},
		"refused.test":   {Code: dnsmessage.RCodeRefused},
		"badvers.test":   {Fault: func(r *testnet.Reply) { setExtendedCode(r, 16) }},
		"silent.test":    {Fault: testnet.Silent},
		"big.test":       {Addrs: []string{"192.0.2.3"}, TTL: 600, Fault: testnet.Truncated},
		"forged.test":    {Addrs: []string{"192.0.2.4"}, TTL: 600, Fault: testnet.Forged},
		"wrongid.test":   {Addrs: []string{"192.0.2.5"}, TTL: 600, Fault: testnet.WrongID},
		"othername.test": {Addrs: []string{"192.0.2.5"}, TTL: 600, Fault: testnet.OtherName},
		"rubbish.test":   {Fault: testnet.Rubbish},
		"old.test":       {Addrs: []string{"192.0.2.6"}, TTL: 600, Fault: testnet.NoExtensions},
		"foreign.test":   {Addrs: []string{"192.0.2.8"}, TTL: 600, Fault: ofOther("elsewhere.test.")},
		"only4.test":     {Addrs: []string{"192.0.2.9"}, TTL: 600, Only: []dnsmessage.Type{dnsmessage.TypeA}},
		"only6.test":     {Addrs: []string{"2001:db8::9"}, TTL: 600, Only: []dnsmessage.Type{dnsmessage.TypeAAAA}},
		"liar.test":      {Addrs: []string{"192.0.2.10"}, TTL: 600, Fault: denies(dnsmessage.TypeAAAA)},
		"huge.test":      {Addrs: many(100), TTL: 600, Fault: testnet.Truncated},
		"minus.test":     {Addrs: []string{"192.0.2.11"}, TTL: 1 << 31},
		"lame.test": {Fault: func(r *testnet.Reply) {
			r.Message.RecursionAvailable = false
		}},
	}
	for name, h := range loop(maxAliases - 1) {
		hosts[name] = h
	}
	hosts[fmt.Sprintf("c%d.test", maxAliases-1)] = testnet.Host{Addrs: []string{"192.0.2.7"}, TTL: 60}
	for name, h := range loop(maxAliases + 3) {
		hosts["l"+name] = testnet.Host{Alias: "l" + h.Alias, TTL: 60}
	}
	s := serve(t, hosts)
	short := resolver(Config{Timeout: 300 * time.Millisecond, MinTTL: None}, s)
	for _, tt := range []struct {
		name  string
		want  string
		addrs []string
		ttl   time.Duration
	}{
		{"a.test", "found", []string{"192.0.2.1", "192.0.2.2", "2001:db8::1"}, 600 * time.Second},
		{"A.Test", "found", []string{"192.0.2.1", "192.0.2.2", "2001:db8::1"}, 600 * time.Second},
		{"a.test.", "found", []string{"192.0.2.1", "192.0.2.2", "2001:db8::1"}, 600 * time.Second},
		{"four.test", "found", []string{"192.0.2.1"}, 600 * time.Second},
		{"six.test", "found", []string{"2001:db8::1"}, 600 * time.Second},
		{"mapped.test", "found", []string{"192.0.2.1"}, 600 * time.Second},
		{"empty.test", "not found", nil, 700 * time.Second},
		{"nothing.test", "not found", nil, 700 * time.Second},
		{"unknown.test", "not found", nil, 0},
		{"alias.test", "found", []string{"192.0.2.1", "192.0.2.2", "2001:db8::1"}, 400 * time.Second},
		{"dangling.test", "not found", nil, 0},
		{"badalias.test", "not found", nil, 0},
		{"self.test", "failed", nil, 0},
		{"c0.test", "found", []string{"192.0.2.7"}, 60 * time.Second},
		{"lc0.test", "failed", nil, 0},
		{"servfail.test", "failed", nil, 0},
		{"refused.test", "failed", nil, 0},
		{"badvers.test", "failed", nil, 0},
		{"lame.test", "failed", nil, 0},
		{"silent.test", "timeout", nil, 0},
		{"big.test", "found", []string{"192.0.2.3"}, 600 * time.Second},
		{"forged.test", "found", []string{"192.0.2.4"}, 600 * time.Second},
		{"wrongid.test", "timeout", nil, 0},
		{"othername.test", "timeout", nil, 0},
		{"rubbish.test", "timeout", nil, 0},
		{"old.test", "found", []string{"192.0.2.6"}, 600 * time.Second},
		{"foreign.test", "not found", nil, 0},
		{"only4.test", "found", []string{"192.0.2.9"}, 0},
		{"only6.test", "found", []string{"2001:db8::9"}, 0},
		{"liar.test", "found", []string{"192.0.2.10"}, 600 * time.Second},
		{"huge.test", "found", many(maxAddrs), 600 * time.Second},
		{"minus.test", "found", []string{"192.0.2.11"}, 0},
		{"x..test", "not found", nil, 0},
		{"", "not found", nil, 0},
		{strings.Repeat("x", 64) + ".test", "not found", nil, 0},
		{strings.Repeat("x.", 127), "not found", nil, 0},
		{"hidden.onion", "not found", nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := short.Lookup(t.Context(), tt.name)
			if kindOf(err) != tt.want || !slices.Equal(got.Addrs, addrs(tt.addrs...)) {
				t.Fatalf("%v %v, want %s %v", got.Addrs, err, tt.want, tt.addrs)
			}
			if err == nil && (got.TTL > tt.ttl || got.TTL < tt.ttl-10*time.Second) {
				t.Errorf("holds for %v, want %v", got.TTL, tt.ttl)
			}
			if tt.ttl > 0 && tt.want == "not found" {
				if left := time.Until(short.cache.byName[tt.name].Value.(*entry).until); left > tt.ttl || left < tt.ttl-10*time.Second {
					t.Errorf("holds for %v, want %v", left, tt.ttl)
				}
			}
		})
	}
	t.Cleanup(func() { // after all of them
		if n := s.Asked("hidden.onion", dnsmessage.TypeA); n > 0 {
			t.Errorf("%d queries for a name of Tor's", n)
		}
	})
}

func setExtendedCode(r *testnet.Reply, code dnsmessage.RCode) {
	var h dnsmessage.ResourceHeader
	h.SetEDNS0(1232, code, false)
	r.Message.Additionals = []dnsmessage.Resource{{Header: h, Body: &dnsmessage.OPTResource{}}}
}

// ofOther makes all records those of another name.
func ofOther(name string) func(*testnet.Reply) {
	return func(r *testnet.Reply) {
		for i := range r.Message.Answers {
			r.Message.Answers[i].Header.Name = dnsmessage.MustNewName(name)
		}
	}
}

// denies says that there is no such name when it is asked for one type.
func denies(kind dnsmessage.Type) func(*testnet.Reply) {
	return func(r *testnet.Reply) {
		if r.Message.Questions[0].Type == kind {
			r.Message.RCode = dnsmessage.RCodeNameError
		}
	}
}

func many(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("198.51.100.%d", i))
	}
	return list
}

// TestOneQueryForManyAskers: a hundred askers of one name cost one query of each family, and who comes later none.
func TestOneQueryForManyAskers(t *testing.T) {
	ask := make(chan struct{})
	s := serve(t, map[string]testnet.Host{"a.test": {Addrs: []string{"192.0.2.1"}, TTL: 60, Fault: func(*testnet.Reply) { <-ask }}})
	r := resolver(Config{}, s)
	var asking sync.WaitGroup
	var failures [100]error
	for i := range failures {
		asking.Go(func() { _, failures[i] = r.Lookup(t.Context(), "a.test") })
	}
	close(ask)
	asking.Wait()
	if err := errors.Join(failures[:]...); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Lookup(t.Context(), "a.test"); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA} {
		if n := s.Asked("a.test", kind); n != 1 {
			t.Errorf("%d queries for %v, want 1", n, kind)
		}
	}
}

// TestGivingUp: who gives up does not wait, the others get their answer, and when all have, nothing goes on.
func TestGivingUp(t *testing.T) {
	answer := make(chan struct{})
	s := serve(t, map[string]testnet.Host{"a.test": {Addrs: []string{"192.0.2.1"}, TTL: 60, Fault: func(*testnet.Reply) { <-answer }}})
	r := resolver(Config{}, s)
	gone, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	var first, second error
	waiting.Go(func() { _, first = r.Lookup(gone, "a.test") })
	for s.Asked("a.test", dnsmessage.TypeA) == 0 {
		<-time.After(time.Millisecond)
	}
	waiting.Go(func() { _, second = r.Lookup(t.Context(), "a.test") })
	for joined := false; !joined; {
		r.mu.Lock()
		joined = r.calls["a.test"].waiting == 2
		r.mu.Unlock()
	}
	cancel()
	close(answer)
	waiting.Wait()
	if !errors.Is(first, context.Canceled) && first != nil || second != nil {
		t.Errorf("%v and %v, want a cancellation (or an answer that was quicker) and an answer", first, second)
	}

	s.Set("silent.test", testnet.Host{Fault: testnet.Silent})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := r.Lookup(ctx, "silent.test"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the caller's deadline", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.calls) > 0 || len(r.turn) > 0 {
		t.Errorf("%d look-ups and %d turns are left over", len(r.calls), len(r.turn))
	}
}

// TestOtherServers: one that is silent, failing or not there costs no look-up, and is asked last for a while.
func TestOtherServers(t *testing.T) {
	for name, first := range map[string]testnet.Host{
		"silent":   {Fault: testnet.Silent},
		"servfail": {Code: dnsmessage.RCodeServerFailure},
		"rubbish":  {Fault: testnet.Rubbish},
		"gone":     {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts := map[string]testnet.Host{"a.test": first, "b.test": first}
			bad, good := serve(t, hosts), serve(t, map[string]testnet.Host{
				"a.test": {Addrs: []string{"192.0.2.1"}, TTL: 60}, "b.test": {Addrs: []string{"192.0.2.1"}, TTL: 60},
			})
			r := resolver(Config{}, bad, good)
			r.system.now().timeout = 100 * time.Millisecond
			if name == "gone" {
				bad.Close()
			}
			for _, host := range []string{"a.test", "b.test"} {
				if _, err := r.Lookup(t.Context(), host); err != nil {
					t.Error(err)
				}
			}
			if n := bad.Asked("b.test", dnsmessage.TypeA); n > 0 && name == "silent" {
				t.Errorf("the server that kept silent was asked for the next name")
			}
		})
	}
}

func TestTimesToLive(t *testing.T) {
	now := time.Unix(1e9, 0)
	have := addrs("192.0.2.1")
	for _, tt := range []struct {
		name     string
		found    found
		failure  error
		min      time.Duration
		holdsFor time.Duration
	}{
		{"its own", found{addrs: have, ttl: time.Hour}, nil, 5 * time.Minute, time.Hour},
		{"the floor", found{addrs: have, ttl: time.Second}, nil, 5 * time.Minute, 5 * time.Minute},
		{"no floor", found{addrs: have, ttl: time.Second}, nil, 0, time.Second},
		{"the cap", found{addrs: have, ttl: 1000 * time.Hour}, nil, 5 * time.Minute, 24 * time.Hour},
		{"no name", found{noName: true, ttl: 10 * time.Minute}, nil, 5 * time.Minute, 10 * time.Minute},
		{"no addresses", found{ttl: time.Second}, nil, 5 * time.Minute, 5 * time.Minute},
		{"no name, the cap", found{noName: true, ttl: 1000 * time.Hour}, nil, 5 * time.Minute, time.Hour},
		{"a failure", found{}, errors.New("no"), 5 * time.Minute, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCache()
			c.put("a.test", tt.found, tt.failure, tt.min, now)
			if c.get("a.test", now.Add(tt.holdsFor-1)) == nil || c.get("a.test", now.Add(tt.holdsFor)) != nil {
				t.Errorf("does not hold for %v", tt.holdsFor)
			}
		})
	}
}

// TestStale: when no server can be had, the last answer serves for a day, and a word that there is no such name ends it.
func TestStale(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := newCache()
	have, down := found{addrs: addrs("192.0.2.1"), ttl: time.Minute}, errors.New("down")
	c.put("a.test", have, nil, 0, now)
	expired := now.Add(time.Minute)
	if got, err := c.put("a.test", found{}, down, 0, expired).answer("a.test", expired); err != nil || !got.Stale || got.TTL != staleTTL {
		t.Errorf("%+v %v, want the stale answer for %v", got, err, staleTTL)
	}
	last := expired.Add(staleFor)
	if _, err := c.put("a.test", found{}, down, 0, last.Add(-1)).answer("a.test", last); err != nil {
		t.Errorf("just before its end: %v", err)
	}
	if got, err := c.put("a.test", found{}, down, 0, last).answer("a.test", last); kindOf(err) != "failed" {
		t.Errorf("after its end: %+v %v", got, err)
	}
	c.put("a.test", have, nil, 0, now)
	c.put("a.test", found{noName: true}, nil, 0, expired)
	if _, err := c.put("a.test", found{}, down, 0, expired).answer("a.test", expired); kindOf(err) != "failed" {
		t.Errorf("a name that is gone came back: %v", err)
	}
}

func TestDoubt(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := newCache()
	c.put("floor.test", found{addrs: addrs("192.0.2.1"), ttl: time.Second}, nil, time.Minute, now)
	c.put("own.test", found{addrs: addrs("192.0.2.1"), ttl: time.Minute}, nil, time.Minute, now)
	for _, name := range []string{"floor.test", "own.test", "unknown.test"} {
		c.doubt(name)
	}
	later := now.Add(2 * time.Second)
	if c.get("floor.test", later) != nil {
		t.Error("what held by the floor alone still holds")
	}
	if c.get("own.test", later) == nil {
		t.Error("what holds by its own word is forgotten")
	}
}

// TestCacheIsBounded: in number, and in bytes where entries are large.
func TestCacheIsBounded(t *testing.T) {
	now := time.Now()
	c := newCache()
	for i := range 3 * cacheEntries {
		c.put(fmt.Sprintf("%d.test", i), found{ttl: time.Minute}, nil, 0, now)
		c.get("0.test", now)
	}
	if n := c.recent.Len(); n > cacheEntries || n != len(c.byName) || c.bytes > cacheBytes {
		t.Errorf("%d entries, %d by name, %d bytes", n, len(c.byName), c.bytes)
	}
	if c.get("0.test", now) == nil {
		t.Error("the one that is asked for all the time is gone")
	}
	large := make([]netip.Addr, 2*maxAddrs)
	for i := range cacheEntries {
		c.put(strings.Repeat("x", 240)+fmt.Sprint(i), found{addrs: large, ttl: time.Minute}, nil, 0, now)
	}
	if c.bytes > cacheBytes || c.recent.Len() < 1000 {
		t.Errorf("%d bytes in %d entries", c.bytes, c.recent.Len())
	}
	sum := 0
	for at := c.recent.Front(); at != nil; at = at.Next() {
		sum += at.Value.(*entry).size()
	}
	if sum != c.bytes {
		t.Errorf("the entries have %d bytes, %d are booked", sum, c.bytes)
	}
}

// TestStaleOnTheWire: the server that answered is gone when the answer is over.
func TestStaleOnTheWire(t *testing.T) {
	s := serve(t, map[string]testnet.Host{"a.test": {Addrs: []string{"192.0.2.1"}, TTL: 0}})
	r := resolver(Config{MinTTL: None, Timeout: 200 * time.Millisecond}, s)
	if _, err := r.Lookup(t.Context(), "a.test"); err != nil {
		t.Fatal(err)
	}
	s.Set("a.test", testnet.Host{Code: dnsmessage.RCodeServerFailure})
	got, err := r.Lookup(t.Context(), "a.test")
	if err != nil || !got.Stale || !slices.Equal(got.Addrs, addrs("192.0.2.1")) {
		t.Errorf("%+v %v, want the answer of before", got, err)
	}
}

// TestWithoutIPv6: addresses that are of no use are not asked for, unless there are no others.
func TestWithoutIPv6(t *testing.T) {
	s := serve(t, map[string]testnet.Host{
		"both.test": {Addrs: []string{"192.0.2.1", "2001:db8::1"}, TTL: 60},
		"six.test":  {Addrs: []string{"2001:db8::1"}, TTL: 60},
	})
	r := resolver(Config{IPv6: func() bool { return false }}, s)
	for host, want := range map[string]string{"both.test": "192.0.2.1", "six.test": "2001:db8::1"} {
		if got, err := r.Lookup(t.Context(), host); err != nil || !slices.Equal(got.Addrs, addrs(want)) {
			t.Errorf("%s: %v %v, want %s", host, got.Addrs, err, want)
		}
	}
	if s.Asked("both.test", dnsmessage.TypeAAAA) != 0 || s.Asked("six.test", dnsmessage.TypeAAAA) != 1 {
		t.Error("asked for IPv6 where there was IPv4, or not where there was none")
	}
}

// TestSystemFiles: where names are looked up, by the system's files.
func TestSystemFiles(t *testing.T) {
	own := func(lines string) string { return "nameserver 192.0.2.53\n" + lines }
	for _, tt := range []struct {
		name, resolv, nsswitch string
		own                    bool
		host                   string
		candidates             []string
	}{
		{"plain", own(""), "hosts: files dns\n", true, "a.test", []string{"a.test"}},
		{"no nsswitch", own(""), "", true, "a.test", []string{"a.test"}},
		{"no servers", "search corp.test\n", "hosts: files dns\n", false, "", nil},
		{"systemd", own(""), "hosts: files myhostname mdns4_minimal [NOTFOUND=return] resolve [!UNAVAIL=return] dns\n", true, "a.test", []string{"a.test"}},
		{"a directory of names", own(""), "hosts: files ldap dns\n", false, "", nil},
		{"DNS first", own(""), "hosts: dns files\n", false, "", nil},
		{"no DNS", own(""), "hosts: files\n", false, "", nil},
		{"search", own("search corp.test lab.test\n"), "", true, "intranet", []string{"intranet.corp.test", "intranet.lab.test", "intranet"}},
		{"search, a dot", own("search corp.test\n"), "", true, "www.intranet", []string{"www.intranet"}},
		{"search, rooted", own("search corp.test\n"), "", true, "intranet.", []string{"intranet."}},
		{"the last line counts", own("search corp.test\ndomain lab.test\n"), "", true, "x", []string{"x.lab.test", "x"}},
		{"many dots", own("search ns.svc.cluster.local svc.cluster.local\noptions ndots:5\n"), "", true, "www.example.org",
			[]string{"www.example.org", "www.example.org.ns.svc.cluster.local", "www.example.org.svc.cluster.local"}},
		{"comments", "# nameserver 192.0.2.1\n; x\nnameserver 192.0.2.53 # ours\n", "#hosts: ldap\nhosts: files dns # usual\n", true, "a.test", []string{"a.test"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &system{resolv: write(t, "resolv.conf", tt.resolv), nsswitch: write(t, "nsswitch.conf", tt.nsswitch), hosts: write(t, "hosts", "")}
			c := s.now()
			if c.own != tt.own {
				t.Fatalf("own look-ups: %v, want %v", c.own, tt.own)
			}
			if got := c.candidates(tt.host); c.own && !slices.Equal(got, tt.candidates) {
				t.Errorf("candidates for %s: %v, want %v", tt.host, got, tt.candidates)
			}
		})
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFilesChange: the hosts file goes before the servers, and what changes in it is seen.
func TestFilesChange(t *testing.T) {
	s := serve(t, map[string]testnet.Host{"a.test": {Addrs: []string{"192.0.2.1"}, TTL: 60}})
	r := resolver(Config{}, s)
	r.system.hosts = write(t, "hosts", "127.0.0.1 localhost\n192.0.2.100 A.test other.test # ours\n2001:db8::64 a.test\nno.address x.test\n")
	look := func(host, want string) {
		t.Helper()
		got, err := r.Lookup(t.Context(), host)
		if err != nil || len(got.Addrs) == 0 || got.Addrs[0] != netip.MustParseAddr(want) {
			t.Errorf("%s: %v %v, want %s", host, got.Addrs, err, want)
		}
	}
	look("a.test", "192.0.2.100")
	look("A.TEST.", "192.0.2.100")
	look("other.test", "192.0.2.100")
	if err := os.WriteFile(r.system.hosts, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.system.looked = time.Time{}
	look("a.test", "192.0.2.1")
}

// TestBuiltin: without files of the system's, its own resolver is asked, and its answers are kept.
func TestBuiltin(t *testing.T) {
	r := New(Config{})
	r.system = &system{}
	asked := 0
	r.builtin = func(_ context.Context, host string) ([]netip.Addr, error) {
		asked++
		switch host {
		case "a.test":
			return addrs("::ffff:192.0.2.1"), nil
		case "down.test":
			return nil, &net.DNSError{Err: "no servers", IsTemporary: true}
		}
		return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
	}
	for range 2 {
		got, err := r.Lookup(t.Context(), "a.test")
		if err != nil || !slices.Equal(got.Addrs, addrs("192.0.2.1")) || got.TTL < 4*time.Minute {
			t.Errorf("%+v %v", got, err)
		}
		if _, err := r.Lookup(t.Context(), "gone.test"); kindOf(err) != "not found" {
			t.Error(err)
		}
		if _, err := r.Lookup(t.Context(), "down.test"); kindOf(err) != "failed" {
			t.Error(err)
		}
	}
	if asked != 3 {
		t.Errorf("asked %d times, want 3", asked)
	}
}

// TestInTurn: no more look-ups go on at once than there is room for.
func TestInTurn(t *testing.T) {
	r := New(Config{})
	r.system = &system{}
	r.turn = make(chan struct{}, 2)
	var mu sync.Mutex
	now, most := 0, 0
	r.builtin = func(context.Context, string) ([]netip.Addr, error) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		<-time.After(time.Millisecond)
		mu.Lock()
		now--
		mu.Unlock()
		return addrs("192.0.2.1"), nil
	}
	var asking sync.WaitGroup
	for i := range 20 {
		asking.Go(func() { r.Lookup(t.Context(), fmt.Sprintf("%d.test", i)) })
	}
	asking.Wait()
	if most > 2 {
		t.Errorf("%d look-ups at once, want 2", most)
	}
}

// FuzzReadReply: whatever comes, addresses are taken only from an answer to the question, and not too many.
func FuzzReadReply(f *testing.F) {
	q, err := question("a.test", dnsmessage.TypeA)
	if err != nil {
		f.Fatal(err)
	}
	name := dnsmessage.MustNewName("a.test.")
	good := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 7, Response: true},
		Questions: []dnsmessage.Question{q},
		Answers: []dnsmessage.Resource{
			{Header: dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET, TTL: 9}, Body: &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName("b.test.")}},
			{Header: dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName("b.test."), Class: dnsmessage.ClassINET, TTL: 9}, Body: &dnsmessage.AResource{A: [4]byte{192, 0, 2, 1}}},
		},
		Authorities: []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET}, Body: &dnsmessage.SOAResource{NS: name, MBox: name}}},
	}
	msg, err := good.Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(msg)
	f.Add(msg[:len(msg)-3])
	f.Add([]byte("rubbish"))
	f.Fuzz(func(t *testing.T, msg []byte) {
		r, err := readReply(msg, 7, q)
		if err != nil {
			return
		}
		if len(r.addrs) > maxAddrs || r.aliases > maxAliases || r.ttl < 0 || r.ttl > maxTTL || r.negative < 0 {
			t.Errorf("%+v", r)
		}
		if len(r.addrs) == 0 {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(msg) == nil && (m.ID != 7 || !m.Response || fold(m.Questions[0].Name) != "a.test") {
			t.Errorf("addresses of a message that is not the answer: %+v", m)
		}
	})
}
