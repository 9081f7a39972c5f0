package crawler

// maybe is a URL that the filter takes for seen. A seed, and what stands for one, is not left to that chance: the log is
// asked.
type maybe struct {
	link
	origin
}

// settle admits the maybes that are not in the log.
func (k *committer) settle(maybes []maybe) error {
	if len(maybes) == 0 {
		return nil
	}
	hashes := make([]uint64, len(maybes))
	for i, m := range maybes {
		hashes[i] = m.hash
	}
	known, err := k.store.Find(hashes)
	if err != nil {
		return err
	}
	for i := range maybes {
		m := &maybes[i]
		if _, ok := known[m.hash]; ok {
			k.books.Counters.Reasons[Seen]++
			continue
		}
		k.met.add(m.hash) // one hash an admission, although its bits are set already
		task, err := k.enter(&m.link, m.origin)
		if err != nil {
			return err
		}
		k.wait(task)
		known[m.hash] = task.Seq
	}
	return nil
}
