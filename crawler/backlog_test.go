package crawler

import (
	"path/filepath"
	"strings"
	"testing"

	"crawl/store"
)

// An entry of the queue that is no URL is the damage of the run that holds it: that is named, and made again from the logs.
func TestEntryThatIsNoURL(t *testing.T) {
	web := newListWeb(60)
	dir := listCrawl(t, web, 30)
	var said logged
	c, err := goOn(dir, web, func(cfg *Config) { cfg.Log = said.logger() })
	if err != nil {
		t.Fatal(err)
	}
	k := c.committer
	pending, err := k.pendingAdmissions(store.Span{Upto: k.store.Admissions.Len()}, nil)
	if err != nil || len(pending) == 0 {
		t.Fatalf("%d URLs are pending, %v", len(pending), err)
	}
	bad := pending[len(pending)-1]
	bad.URL = "http://["
	k.store.Queue.Add(&bad)
	k.store.Queue.Committed(k.store.Admissions.Len(), k.store.Done.Len())
	if err := k.store.Queue.Spill(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = c.taskOf(&bad, bad.Due)
	damage, ok := asDamage(err)
	if !ok || filepath.Ext(damage.File) != ".run" || !k.store.OfRun(err) || !strings.Contains(err.Error(), "the entry of URL ") {
		t.Errorf("it is %v", err)
	}
	if err := finish(t, c); err != nil {
		t.Fatalf("%v; the log says:\n%s", err, said.String())
	}
	recordedOnce(t, dir, web)
	if !strings.Contains(said.String(), "a run of the queue is damaged, and is made again from the logs") {
		t.Errorf("the log says:\n%s", said.String())
	}
}
