package crawler

import "time"

// rateMeter counts pages and bytes of the last sixty seconds, by second.
type rateMeter struct {
	seconds [60]struct {
		at           int64 // Unix second that the slot counts
		pages, bytes uint64
	}
	since time.Time // when counting began
}

func (m *rateMeter) add(now time.Time, bytes uint64) {
	slot := &m.seconds[now.Unix()%60]
	if slot.at != now.Unix() {
		slot.at, slot.pages, slot.bytes = now.Unix(), 0, 0
	}
	slot.pages++
	slot.bytes += bytes
}

// perSecond returns the means over the last minute, or since counting began when that is less.
func (m *rateMeter) perSecond(now time.Time) (pages, bytes float64) {
	span := min(now.Sub(m.since), time.Minute).Seconds()
	if span <= 0 {
		return 0, 0
	}
	for _, slot := range m.seconds {
		if now.Unix()-slot.at < 60 {
			pages += float64(slot.pages)
			bytes += float64(slot.bytes)
		}
	}
	return pages / span, bytes / span
}
