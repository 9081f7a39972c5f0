package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport says which packages of ours each of ours may import: the arrow goes one way, and packages on the line of a
// URL do not know each other.
var mayImport = map[string][]string{
	"canon":                {},
	"seen":                 {},
	"frontier":             {"canon"},
	"fetch":                {"canon", "fetch/dns"},
	"fetch/dns":            {},
	"sortedrun":            {},
	"store":                {"canon", "sortedrun", "internal/vfs"},
	"internal/parse":       {"canon"},
	"internal/scope":       {"canon"},
	"internal/sitemap":     {"canon"},
	"internal/trap":        {"canon"},
	"internal/config":      {},
	"internal/deny":        {"canon"},
	"internal/testweb":     {},
	"internal/testnet":     {},
	"internal/versus":      {},
	"internal/vfs":         {},
	"internal/vfs/vfstest": {"internal/vfs"},
	"crawler":              {"canon", "seen", "frontier", "fetch", "store", "internal/deny", "internal/parse", "internal/scope", "internal/sitemap", "internal/trap", "internal/vfs"},
	"cmd/crawl": {"canon", "seen", "frontier", "fetch", "fetch/dns", "store", "crawler", "internal/config", "internal/parse", "internal/sitemap",
		"internal/testweb"},

	"internal/testweb/hostile": {},
}

func TestImportsGoOneWay(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() && (rel == "bench" || strings.HasPrefix(entry.Name(), ".") && rel != ".") {
			return fs.SkipDir // bench is a module of its own
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		checkImports(t, path, filepath.ToSlash(filepath.Dir(rel)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 {
		t.Errorf("only %d files were checked: the tree is not where it should be", files)
	}
}

func checkImports(t *testing.T, file, pkg string) {
	allowed, known := mayImport[pkg]
	if !known {
		t.Errorf("%s: package %s has no place in the layout", file, pkg)
		return
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	for _, spec := range parsed.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Error(err)
			continue
		}
		ours, isOurs := strings.CutPrefix(path, "crawl/")
		if isOurs && !slices.Contains(allowed, ours) {
			t.Errorf("%s imports %s, which %s may not", file, path, pkg)
		}
	}
}
