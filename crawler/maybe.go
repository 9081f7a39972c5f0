package crawler

// maybe is a URL that the filter takes for seen. A seed, and what stands for one, is not left to that chance: the log is
// asked, for many of them at once.
type maybe struct {
	link
	origin
}

const (
	maxMaybes = 1 << 16 // that wait for one look into the log
	quickLook = 1 << 18 // admissions that are looked through in less than a millisecond
)

// settleSoon settles maybes that a visit left. Where that is slow it is left to a checkpoint, which is asked for; until
// then the frontier must not be drained.
func (k *committer) settleSoon() error {
	if k.store.Admissions.Len() < quickLook || len(k.maybes) > maxMaybes {
		return k.settleMaybes()
	}
	if k.unsettled == nil {
		k.unsettled = k.frontier.Intake()
		k.askForCheckpoint()
	}
	return nil
}

// settleMaybes admits the maybes that are not in the log.
func (k *committer) settleMaybes() error {
	if len(k.maybes) == 0 {
		return nil
	}
	hashes := make(map[uint64]struct{}, len(k.maybes))
	for _, m := range k.maybes {
		hashes[m.hash] = struct{}{}
	}
	known, err := k.store.Admissions.Find(hashes)
	if err != nil {
		return err
	}
	for _, m := range k.maybes {
		if _, ok := known[m.hash]; ok {
			k.books.Counters.Reasons[Seen]++
			continue
		}
		k.filter.Add([]uint64{m.hash}) // one hash an admission, although its bits are set already
		task, err := k.enter(m.link, m.origin)
		if err != nil {
			return err
		}
		k.frontier.Add(task)
		known[m.hash] = task.Seq
	}
	k.maybes = nil
	if k.unsettled != nil {
		k.unsettled()
		k.unsettled = nil
	}
	return nil
}
