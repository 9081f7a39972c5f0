package fetch

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A robots.txt that is made to hurt costs a bounded time to read and to ask, and a bounded memory to keep. The bounds leave
// room for machines with much else to do; what is not linear misses them by far.
func TestRobotsThatHurt(t *testing.T) {
	const (
		mostTime = 5 * time.Second
		mostKept = 8 << 20
	)
	fill := func(head, line string) string {
		return head + strings.Repeat(line, (MaxRobotsBytes-len(head))/len(line))
	}
	long := "/" + strings.Repeat("a", 16<<10)
	for _, tt := range []struct{ name, file, path string }{
		{"rules of one byte", fill("User-agent: *\n", "Allow:/\n"), long},
		{"stars", fill("User-agent: *\n", "Disallow: /*a*b$\n"), long},
		{"many stars a rule", fill("User-agent: *\n", "Disallow: /"+strings.Repeat("a*", 1000)+"b\n"), long},
		{"one rule of stars", "User-agent: *\nDisallow: /" + strings.Repeat("a*", MaxRobotsBytes/2-100) + "b\n", long},
		{"pieces that nearly fit", fill("User-agent: *\n", "Disallow: /*"+strings.Repeat("a", 100)+"b\n"), long},
		{"percent signs", fill("User-agent: *\nDisallow: ", "%"), "/" + strings.Repeat("%", 16<<10)},
		{"encoded octets", fill("User-agent: *\n", "Disallow: /%61%62%zz%\n"), "/" + strings.Repeat("%61", 5000)},
		{"both groups", fill("User-agent: *\nUser-agent: bot\n", "Disallow: /*x\n"), long},
		{"groups of nobody", fill("", "User-agent: nobody\nDisallow: /\n"), long},
		{"sitemaps", fill("", "Sitemap: /s\n"), long},
		{"sitemaps, all different", numberedLines("Sitemap: /%d\n"), long},
		{"index pages", fill("User-agent: *\n", "Allow: /a/index.html\n"), long},
		{"line ends alone", fill("", "\r"), long},
		{"NULs", fill("User-agent: *\nDisallow: ", "\x00"), long},
		{"no line end", fill("", "a"), long},
		{"UTF-16", "\xff\xfe" + fill("", "D\x00i\x00s\x00"), long},
		{"fifty megabytes", strings.Repeat("User-agent: *\nDisallow: /*a*b$\n", 50<<20/31), long},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u := mustParse(t, "http://a.example"+tt.path)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			start := time.Now()
			r := parseRobots(t, tt.file, "bot")
			read := time.Since(start)
			r.Test(u)
			asked := time.Since(start) - read
			runtime.GC()
			runtime.ReadMemStats(&after)
			kept := int64(after.HeapAlloc) - int64(before.HeapAlloc)
			runtime.KeepAlive(r)
			t.Logf("read in %v, asked in %v, %d KiB kept", read.Round(time.Microsecond), asked.Round(time.Microsecond), kept>>10)
			if read > mostTime || asked > mostTime || kept > mostKept {
				t.Errorf("read in %v, asked in %v, %d bytes kept; want at most %v, %v, %d", read, asked, kept, mostTime, mostTime, mostKept)
			}
		})
	}
}

func numberedLines(format string) string {
	var b strings.Builder
	for i := 0; b.Len() < MaxRobotsBytes; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}
