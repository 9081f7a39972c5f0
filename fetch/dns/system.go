package dns

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// reread is how often the system's files are looked at for changes.
	reread = 5 * time.Second

	// hostsTTL is how long a line of the hosts file counts at least: it has none.
	hostsTTL = time.Minute

	// maxSystemFile is far more than a list of unwanted hosts takes.
	maxSystemFile = 16 << 20
)

// config is how names are looked up at one moment. It is not written to once made.
type config struct {
	own      bool // by queries of ours; otherwise the system's own resolver is asked
	servers  []netip.AddrPort
	search   []string
	ndots    int
	attempts int
	timeout  time.Duration // of one attempt; 0: the usual ones
	rotate   bool
	tcp      bool

	hosts map[string][]netip.Addr // by name in lower case
}

// wait returns how long a server is waited for in a round. A first query may be lost, which should not cost much; a
// server that has to ask others may need longer.
func (c *config) wait(round int) time.Duration {
	if c.timeout > 0 {
		return c.timeout
	}
	return 2 * time.Second << round
}

// candidates returns the names that stand for name, in the order in which they are tried. Domains of the search list are
// for short names: a name with as many dots as "ndots" has is tried alone. One with fewer, but any, is tried as it stands
// first, unlike the system does: where ndots is 5, each public name would else cost four queries in vain.
func (c *config) candidates(name string) []string {
	dots := strings.Count(name, ".")
	if strings.HasSuffix(name, ".") || dots >= c.ndots {
		return []string{name}
	}
	var names []string
	for _, domain := range c.search {
		if longer := name + "." + domain; wellFormed(longer) {
			names = append(names, longer)
		}
	}
	if dots > 0 {
		return slices.Insert(names, 0, name)
	}
	return append(names, name)
}

// system reads the files in which the system says how names are looked up, and again when they change.
type system struct {
	resolv, nsswitch, hosts string // names of files; empty: there is none
	servers                 []netip.AddrPort

	mu      sync.Mutex // guards all below
	current *config
	looked  time.Time
	stamps  [3]stamp
}

// stamp tells a version of a file from others.
type stamp struct {
	changed time.Time
	bytes   int64
}

func stampOf(name string) stamp {
	info, err := os.Stat(name)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

// newSystem returns the system's settings, with servers in place of its own if there are any.
func newSystem(servers []netip.AddrPort) *system {
	s := &system{servers: servers}
	switch runtime.GOOS {
	case "windows":
		s.hosts = filepath.Join(os.Getenv("SystemRoot"), `System32\drivers\etc\hosts`)
	case "plan9", "js", "wasip1":
		// No files.
	case "darwin", "ios", "android":
		s.hosts = "/etc/hosts" // and what resolv.conf says there is not all
	default:
		s.resolv, s.nsswitch, s.hosts = "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/hosts"
	}
	return s
}

// now returns how names are looked up at present.
func (s *system) now() *config {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.current != nil && now.Sub(s.looked) < reread {
		return s.current
	}
	s.looked = now
	stamps := [3]stamp{stampOf(s.resolv), stampOf(s.nsswitch), stampOf(s.hosts)}
	if s.current == nil || stamps != s.stamps {
		s.current, s.stamps = s.read(), stamps
	}
	return s.current
}

func (s *system) read() *config {
	c := &config{ndots: 1, attempts: 2, hosts: map[string][]netip.Addr{}}
	eachLine(s.resolv, c.resolvLine)
	if len(s.servers) > 0 {
		c.servers, c.own = s.servers, true
	} else {
		c.own = len(c.servers) > 0 && filesThenDNS(s.nsswitch)
	}
	if c.own { // the system's own resolver reads the file itself
		eachLine(s.hosts, c.hostsLine)
	}
	return c
}

// eachLine calls read with the words of each line of a file, without its comments. What cannot be read is left out, as
// the system does.
func eachLine(name string, read func(words []string)) {
	if name == "" {
		return
	}
	file, err := os.Open(name)
	if err != nil {
		return
	}
	defer file.Close()
	for lines := bufio.NewScanner(io.LimitReader(file, maxSystemFile)); lines.Scan(); {
		line := lines.Text()
		if i := strings.IndexAny(line, "#;"); i >= 0 {
			line = line[:i]
		}
		if words := strings.Fields(line); len(words) > 1 {
			read(words)
		}
	}
}

// resolvLine reads a line of resolv.conf(5).
func (c *config) resolvLine(words []string) {
	const mostServers, mostDomains, most = 8, 32, 30
	switch words[0] {
	case "nameserver":
		if a, err := netip.ParseAddr(words[1]); err == nil && len(c.servers) < mostServers {
			c.servers = append(c.servers, netip.AddrPortFrom(a, 53))
		}
	case "domain", "search":
		c.search = nil // the last line counts
		for _, domain := range words[1:] {
			if domain = strings.ToLower(strings.Trim(domain, ".")); domain != "" && len(c.search) < mostDomains {
				c.search = append(c.search, domain)
			}
		}
	case "options":
		for _, option := range words[1:] {
			key, text, _ := strings.Cut(option, ":")
			n, _ := strconv.Atoi(text)
			n = min(max(n, 0), most)
			switch key {
			case "ndots":
				c.ndots = n
			case "timeout":
				c.timeout = time.Duration(n) * time.Second
			case "attempts":
				c.attempts = max(n, 1)
			case "rotate":
				c.rotate = true
			case "use-vc", "usevc", "tcp":
				c.tcp = true
			}
		}
	}
}

// hostsLine reads a line of hosts(5).
func (c *config) hostsLine(words []string) {
	a, err := netip.ParseAddr(words[0])
	if err != nil {
		return
	}
	for _, name := range words[1:] {
		name = strings.ToLower(strings.TrimSuffix(name, "."))
		if len(c.hosts[name]) < maxAddrs {
			c.hosts[name] = append(c.hosts[name], a.Unmap())
		}
	}
}

// filesThenDNS reports whether nsswitch.conf(5) has hosts looked up in the hosts file, then by DNS, and nowhere else that
// knows more. resolve is systemd's, which resolv.conf names as well; the others answer for names of this machine and link.
func filesThenDNS(name string) bool {
	ours := true
	eachLine(name, func(words []string) {
		if words[0] != "hosts:" {
			return
		}
		var files, dns bool
		for _, source := range words[1:] {
			switch {
			case source == "files":
				files = true
			case source == "dns" || source == "resolve":
				dns = true
				ours = ours && files
			case source == "myhostname" || strings.HasPrefix(source, "mdns") || strings.HasPrefix(source, "[") || strings.HasSuffix(source, "]"):
			default:
				ours = false
			}
		}
		ours = ours && dns
	})
	return ours
}

// lookUpBuiltin asks the system's own resolver: Go's, whose look-ups end with their context, where the system's files are
// all it needs, and the system's where it decides so.
func lookUpBuiltin(ctx context.Context, host string) ([]netip.Addr, error) {
	r := net.Resolver{PreferGo: runtime.GOOS == "windows" || runtime.GOOS == "darwin"}
	return r.LookupNetIP(ctx, "ip", host)
}
