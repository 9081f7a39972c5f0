package canon

import "testing"

func BenchmarkParse(b *testing.B) {
	base, err := Parse("https://www.example.com/shop/women/shoes/index.html?page=2")
	if err != nil {
		b.Fatal(err)
	}
	for _, bm := range []struct{ name, ref string }{
		{"absolute path, 60 bytes", "/shop/women/shoes/running-shoes-size-38-blue.html?color=blue"},
		{"relative, 60 bytes", "running/shoes-for-women-size-38-blue-and-white.html?color=bl"},
		{"absolute, 60 bytes", "https://www.example.com/shop/women/shoes/running-38.html?c=1"},
		{"no scheme, 60 bytes", "//www.example.com/shop/women/shoes/running-shoes-38.html?c=1"},
		{"triplets", "/wiki/%D0%97%D0%B0%D0%B3%D0%BB%D0%B0%D0%B2%D0%BD%D0%B0%D1%8F"},
		{"query alone", "?page=3"},
		{"fragment", "#top"},
		{"host alone", "https://example.com"},
		{"full: dots", "../../about/./contact.html"},
		{"full: upper-case host", "https://WWW.Example.com/shop/women/shoes/running-38.html?c=1"},
		{"full: spaces", "/shop/women shoes/running shoes.html?q=blue or white"},
		{"full: key differs", "/shop/women%2dshoes/list.html?filter[color]=blue&sort=price"},
		{"full: UTF-8", "/wiki/Заглавная_страница"},
		{"full: IDNA", "https://bücher.example/a"},
		{"full: IPv4", "http://192.168.10.1:8080/a"},
		{"full: mailto", "mailto:someone@example.com"},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				(*Rules)(nil).Parse(base, bm.ref)
			}
		})
	}
}
