package parse

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pages names folders of real pages, such as installed documentation.
var pages = flag.String("parse.pages", "", "folders, separated by commas, whose .html files are read too")

// realPages yields the files of pages until it has so many bytes of them.
func realPages(t testing.TB, most int, yield func(path string, text []byte)) (size int) {
	for _, dir := range strings.Split(*pages, ",") {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() || !strings.HasSuffix(path, ".html") || size >= most {
				return err
			}
			text, err := os.ReadFile(path)
			size += len(text)
			yield(path, text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return size
}

// TestScannerAgreesOnPages reads real pages with the scanner and with the tokenizer, up to 10^9 bytes.
func TestScannerAgreesOnPages(t *testing.T) {
	if *pages == "" {
		t.Skip("no -parse.pages")
	}
	files := 0
	size := realPages(t, 1e9, func(path string, text []byte) {
		files++
		agree(t, text, false)
		if t.Failed() {
			t.Fatal(path)
		}
	})
	t.Logf("%d files, %d bytes", files, size)
	if size == 0 {
		t.Errorf("no pages in %s", *pages)
	}
}
