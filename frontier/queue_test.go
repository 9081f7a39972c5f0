package frontier

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestQueueOrder takes from a queue what a sorted slice gives, with pushes in between.
func TestQueueOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var q queue
	var want []entry
	start, u := time.Now(), parse(t, "https://a.example/")
	for seq := range uint64(5000) {
		task := Task{URL: u, Seq: seq, Class: Class(rng.IntN(5)), Depth: rng.IntN(4)}
		head := rng.IntN(8) == 0
		if head && rng.IntN(2) == 0 {
			task.NotBefore = start.Add(time.Duration(rng.IntN(100)))
		}
		e := newEntry(&task, head)
		i, _ := slices.BinarySearchFunc(want, e, func(a, b entry) int {
			switch {
			case a.head != b.head && a.head:
				return -1
			case a.head != b.head:
				return 1
			case a.head:
				return cmp.Or(a.notBefore().Compare(b.notBefore()), cmp.Compare(a.seq, b.seq))
			}
			return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.depth, b.depth), cmp.Compare(a.seq, b.seq))
		})
		want = slices.Insert(want, i, e)
		if first := q.push(task, head); first != (i == 0) {
			t.Fatalf("push of %d: first %t, want %t", seq, first, i == 0)
		}
		if rng.IntN(3) == 0 {
			if got := q.pop(new(spareLines)); got != want[0].task() {
				t.Fatalf("popped %+v, want %+v", got, want[0].task())
			}
			want = want[1:]
		}
	}
	for _, e := range want {
		if got := q.peek().task(); got != e.task() {
			t.Fatalf("first is %+v, want %+v", got, e.task())
		}
		q.pop(new(spareLines))
	}
	if q.peek() != nil || q.len() != 0 {
		t.Error("the queue is not empty")
	}
}

func TestQueueGivesMemoryBack(t *testing.T) {
	u := parse(t, "https://a.example/")
	var q queue
	for seq := range uint64(10000) {
		q.push(Task{URL: u, Seq: seq}, false)
	}
	for q.len() > 100 {
		q.pop(new(spareLines))
	}
	if c := cap(q.line.places); c > 500 {
		t.Errorf("room for %d tasks with 100 left", c)
	}
	for seq := range uint64(10000) {
		q.push(Task{URL: u, Seq: 1e6 - seq}, false)
	}
	for len(q.strays) > 100 {
		q.pop(new(spareLines))
	}
	if c := cap(q.strays); c > 500 {
		t.Errorf("room for %d strays with 100 left", c)
	}
}

func TestHostHeap(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var q hostHeap
	var in []*host
	for range 3000 {
		if len(in) > 0 && rng.IntN(3) == 0 {
			i := rng.IntN(len(in))
			q.remove(in[i])
			in = slices.Delete(in, i, i+1)
		} else {
			h := &host{due: moment(rng.IntN(500))}
			q.push(h)
			in = append(in, h)
		}
	}
	slices.SortFunc(in, func(a, b *host) int { return cmp.Compare(a.due, b.due) })
	for _, h := range in {
		if q[0].due != h.due {
			t.Fatalf("first is due at %d, want %d", q[0].due, h.due)
		}
		q.remove(q[0])
	}
	if len(q) != 0 {
		t.Errorf("%d hosts left", len(q))
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Seed.String(), "seed"}, {Added.String(), "added"}, {Navigation.String(), "navigation"},
		{Requisite.String(), "requisite"}, {Sitemap.String(), "sitemap"}, {Class(9).String(), "class 9"},
		{Resolve.String(), "resolve"}, {Robots.String(), "robots"}, {Page.String(), "page"}, {Kind(9).String(), "kind 9"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}
