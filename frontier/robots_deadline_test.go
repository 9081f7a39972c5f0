package frontier

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// A robots.txt that waits longer than its deadline in the queue of a host that answers is not taken for unanswered: the
// line is long, or all fetchers are busy, and its turn comes.
func TestRobotsInALongLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts = 20
		f := openFrontier(t, Config{HostDelay: 10 * time.Second, RobotsDeadline: 30 * time.Second})
		target := parse(t, "https://b.example/r")
		for i := range hosts {
			f.Add(Task{URL: parse(t, fmt.Sprintf("https://a%d.example/", i)), Seq: uint64(i + 1)})
		}
		for pages := 0; pages < hosts; {
			l := lease(t, f)
			switch {
			case l.Kind == Resolve:
				must(t, f.Resolved(l, loopback, year))
			case l.Kind == Page:
				pages++
				must(t, f.Done(l, answered))
			case l.RobotsOverdue:
				t.Fatalf("%s is taken for unanswered", l.Origin)
			case l.RobotsHop == 0:
				must(t, f.RedirectRobots(l, target, answered))
			default:
				must(t, f.Permit(l, nil, year, answered))
			}
		}
	})
}
