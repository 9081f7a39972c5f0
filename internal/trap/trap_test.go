package trap

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"crawl/canon"
)

const thisYear = 2026

func test(t *testing.T, c Config, ref string) Rule {
	t.Helper()
	base, err := canon.Parse("https://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	u, err := (*canon.Rules)(nil).Parse(base, ref)
	if err != nil {
		t.Fatal(err)
	}
	return c.Test(u, thisYear)
}

func TestRules(t *testing.T) {
	for _, tt := range []struct {
		ref  string
		want Rule
	}{
		{"/" + strings.Repeat("x", 3985), None},
		{"/" + strings.Repeat("x", 3986), Length},
		{path(1, 20), None},
		{path(1, 21), Segments},
		{"/a/a/a", None},
		{"/a/a/a/a", Repeats},
		{"/a/b/a/c/a/d/a", Repeats},      // not in a row
		{"/0/0/0/0/1/0/1/0/1/0/1", None}, // where files are kept
		{"/2024/1/2024/1/2024/1", Repeats},
		{"/a/b/a/b/", None},
		{"/a/b/a/b/a/b/", Repeats},
		{"/x/a/b/a/b/a/b/y", Repeats},
		{"/a/b/c/a/b/c/a/b", None},
		{"/2024/05/01/2024/05/01/2024/05/01/post", Repeats},
		{"/en/en/en/en/page", Repeats},
		{"/a//b//c//d//e", None}, // empty segments are not repeats
		{"?q=a?q=a?q=a?q=a", Repeats},
		{"?q=a?q=a?q=a", None},
		{"?a=1&a=1&a=1&a=1", Repeats},
		{"?a=1&a=2&a=3&a=4&a=5&a=6", None}, // a list
		{"?&&&&&&", None},
		{"?a=1;a=1;a=1;a=1", Repeats},
		{"?" + pairs(32), None},
		{"?" + pairs(33), Parameters},
		{"/cal?year=2028&month=7", None},
		{"/cal?year=2029&month=7", Calendar},
		{"/cal?y=2029", Calendar},
		{"/cal?cal_year=2029", Calendar},
		{"/cal?cal[year]=2029", Calendar},
		{"/cal?date=2029-01-01", Calendar},
		{"/cal?from=20290101", Calendar},
		{"/cal?d=2029-01", Calendar},
		{"/cal?t=2029-01-01T00:00", Calendar},
		{"/cal/2029/7/", Calendar},
		{"/cal/2029/07/31", Calendar},
		{"/x/2029/07/31", Calendar},
		{"/Events/month/2029/12", Calendar},
		{"/veranstaltungen/2029/1/", Calendar},
		{"/events/2029-07-31/", Calendar},
		{"/events/2029-07", Calendar},
		{"/calendar/20290731/", Calendar},
		{"/events/day/20290731/", Calendar},
		{"/events/20290731/", None}, // the number of an event
		{"/cal?start_date=20290731", Calendar},
		{"/cal?startDate=20290731", Calendar},
		{"/cal?date=99991231", Calendar},
		{"/cal?y=9999&m=3", Calendar},
		{"/browse?y=9999&m=3", Calendar},
		{"/cal/9999-12", Calendar},
		{"/calendar/2031/november/", Calendar},
		{"/calendar/november/2031/", Calendar},
		{"/calendar/november-2031/", Calendar},
		{"/calendar/2031-nov.html", Calendar},
		{"/en/Calendar/2031/Nov", Calendar},
		{"/kalender/2031/m%C3%A4rz", Calendar},
		{"/calendrier/ao%C3%BBt-2031", Calendar},
		{"/events/friday-5-december-2031", Calendar},
		{"/events/2031/w05", Calendar},
		{"/events/2031-W05", Calendar},
		{"/events/2031-W05-3", Calendar},
		{"/calendar/2031/week/5", Calendar},
		{"/calendar/week/2031/5", Calendar},
		{"/calendar/year/2031", Calendar},
		{"/calendar/2031/q3", Calendar},
		{"/calendar-2031-11.html", Calendar},
		{"/events-november-2031.php", Calendar},
		{"/calendar/05.11.2031", Calendar},
		{"/calendar/11_2031", Calendar},
		{"/archive/2031/november/05", Calendar},
		{"/x/5-november-2031", Calendar},
		{"/x?month=2031-11", Calendar},
		{"/x?month=203111", Calendar},
		{"/x?month=november-2031", Calendar},
		{"/x?year=2031&week=5", Calendar},
		{"/x?annee=2031&mois=5", Calendar},
		{"/calendar/view.php?view=month&time=1953849600", Calendar}, // 2031-11-30
		{"/calendar/view.php?view=month&time=1798000000", None},     // 2026-12-23
		{"/item?time=1953849600", None},
		{"/calendar/2028/november/", None},
		{"/climate?year=2087", None}, // what a projection has pages of
		{"/map?x=4096&y=2048&m=3", None},
		{"/parts/2045-12", None},
		{"/parts/4512-05-11", None},
		{"/parts/2045-05-11", Calendar}, // a day, for all that one can tell
		{"/item?sku=2045-12", None},
		{"/item?id=20310731", None}, // the number of an item
		{"/events?id=20310731", None},
		{"/item/45120512", None},
		{"/news/20310731/", None},
		{"/california/2048/11", None},
		{"/terminal/2048/11", None},
		{"/events/2048", None}, // the number of an event
		{"/wallpapers/mars-2048", None},
		{"/tiles/2048/5/7", None},
		{"/item/2029", None}, // a number
		{"/item/2029/details", None},
		{"/item/2029/13", None},
		{"/news/2031/10", None}, // the tenth page of an item
		{"/news/2031/10/x", None},
		{"/cal/2029/13", None},
		{"/item?id=2029&page=3333", None},
		{"/item?id=20290101x", None},
		{"/item/20291301", None},
		{"/item/2099-xl", None},
		{"/item/2099-13-1", None},
		{"/tel?n=20290101234", None},
		{"/archive/1745/03/12/", None},
		{"/", None},
		{"", None},
	} {
		if got := test(t, Default(), tt.ref); got != tt.want {
			t.Errorf("%.80s: %v, want %v", tt.ref, got, tt.want)
		}
		if got := test(t, Config{}, tt.ref); got != None {
			t.Errorf("%.80s: %v without limits", tt.ref, got)
		}
	}
}

// path is the path /first/…/last.
func path(first, last int) string {
	var b strings.Builder
	for i := first; i <= last; i++ {
		b.WriteString("/s" + strconv.Itoa(i))
	}
	return b.String() + "/"
}

func pairs(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("&p" + strconv.Itoa(i) + "=v")
	}
	return b.String()[1:]
}

// TestGoodShapes: the URLs of ordinary sites are left alone.
func TestGoodShapes(t *testing.T) {
	data, err := os.ReadFile("testdata/good.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		n++
		if got := test(t, Default(), line); got != None {
			t.Errorf("%s: %v", line, got)
		}
	}
	if n < 400 {
		t.Errorf("only %d URLs", n)
	}
	for id := 10_000_000; id < 100_000_000; id += 9_973 { // items with numbers of eight digits
		for _, shape := range []string{"/item/", "/item?id=", "/product.php?cat=3&pid=", "/events/show?id="} {
			if got := test(t, Default(), shape+strconv.Itoa(id)); got != None {
				t.Errorf("%s%d: %v", shape, id, got)
			}
		}
	}
	for i := range 5000 { // steps of a pagination
		for _, shape := range []string{"/page/", "/blog/page/", "/list?page=", "/forum/topic-12.html?start=", "/a/b/c/"} {
			if got := test(t, Default(), shape+strconv.Itoa(i)); got != None {
				t.Errorf("%s%d: %v", shape, i, got)
			}
		}
	}
}

// TestConformance: what one URL alone can tell is told. Session ids are not a matter of shape.
func TestConformance(t *testing.T) {
	dir := os.Getenv("CRAWL_CONFORMANCE")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "conformance")
	}
	data, err := os.ReadFile(filepath.Join(dir, "net/trap-urls.json"))
	if err != nil {
		t.Skipf("no public test data: %v (set CRAWL_CONFORMANCE)", err)
	}
	var file struct {
		Cases []struct {
			URL, Kind string
			Trap      *bool
		}
	}
	if err := json.Unmarshal(data, &file); err != nil || len(file.Cases) < 15 {
		t.Fatalf("%d cases, %v", len(file.Cases), err)
	}
	for _, c := range file.Cases {
		if c.Kind == "session" || c.Trap == nil {
			continue
		}
		if got := test(t, Default(), c.URL); (got != None) != *c.Trap {
			t.Errorf("%.80s (%s): %v, want a trap: %v", c.URL, c.Kind, got, *c.Trap)
		}
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if r.String() == "" || seen[r.String()] {
			t.Errorf("rule %d has the name %q", r, r)
		}
		seen[r.String()] = true
	}
}

func FuzzTest(f *testing.F) {
	for _, seed := range []string{"/a/b/a/b/a/b?x=1&x=1", "/2029-01-01/2030/12?y=2031", "//?;&", "/%2e%2e/"} {
		f.Add(seed)
	}
	strict := Default()
	for _, limit := range []*int{strict.MaxPathSegments, strict.MaxRepeats, strict.MaxParameters, strict.MaxYearsAhead} {
		*limit = 1
	}
	f.Fuzz(func(t *testing.T, ref string) {
		u, err := canon.Parse("https://a.test/" + ref)
		if err != nil {
			return
		}
		loose := Default()
		if got := loose.Test(u, thisYear); got != None && strict.Test(u, thisYear) == None {
			t.Errorf("%s: %v, and no trap by narrower limits", u, got)
		}
	})
}

func BenchmarkTest(b *testing.B) {
	c := Default()
	for name, ref := range map[string]string{
		"plain": "https://www.a.test/news/2026/article-1234.html", "long": "https://a.test/a/b/c/d/e/f/g/h?x=1&y=2&z=3&page=4&sort=asc",
	} {
		u, err := canon.Parse(ref)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if c.Test(u, thisYear) != None {
					b.Fatal("a trap")
				}
			}
		})
	}
}
