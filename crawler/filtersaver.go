package crawler

import (
	"crawl/seen"
	"crawl/store"
)

// filterSaver saves the filter a few chunks at a time, each piece behind a checkpoint. A layer is saved when it is full,
// and while it fills whenever the hashes since its last save outgrow it: until then the log's hashes are the cheaper
// copy.
type filterSaver struct {
	saved  seen.Header // what the saved chunks hold for sure; its layers are a prefix of the filter's
	target seen.Header // what they will hold when this pass is over
	layer  int         // of the pass
	chunk  int         // next one of the pass
	active bool
}

// pieceChunks are copied with one checkpoint and written behind it: 4 MiB.
const pieceChunks = 16

// filterPiece is what may be written after the checkpoint that it was taken with.
type filterPiece struct {
	chunks []store.FilterChunk
	header []byte // not nil at the end of a pass
}

// next copies the next chunks of the filter. The committer holds still meanwhile.
func (s *filterSaver) next(f *seen.Scalable) filterPiece {
	if !s.active && !s.begin(f.Header()) {
		return filterPiece{}
	}
	var piece filterPiece
	for ; s.chunk < f.Chunks(s.layer) && len(piece.chunks) < pieceChunks; s.chunk++ {
		piece.chunks = append(piece.chunks, store.FilterChunk{
			Layer: s.layer, Index: s.chunk, Data: f.AppendChunk(nil, s.layer, s.chunk),
		})
	}
	if s.chunk == f.Chunks(s.layer) {
		s.saved, s.active = s.target, false
		piece.header, _ = s.saved.MarshalBinary() // fails only on a kind with a long name
	}
	return piece
}

// begin starts a pass over the oldest layer that is worth it. Layers are saved in order, so that what is saved is always
// the filter of some earlier moment.
func (s *filterSaver) begin(now seen.Header) bool {
	for i, l := range now.Layers {
		var savedCount uint64
		if i < len(s.saved.Layers) {
			savedCount = s.saved.Layers[i].Count
		}
		if savedCount == l.Count {
			continue
		}
		sealed := i < len(now.Layers)-1
		if !sealed && 8*(l.Count-savedCount) <= 64*l.Lines {
			return false
		}
		s.target = now
		s.target.Layers = now.Layers[:i+1]
		s.layer, s.chunk, s.active = i, 0, true
		return true
	}
	return false
}

func (p filterPiece) write(f *store.FilterFile) error {
	if len(p.chunks) == 0 {
		return nil
	}
	return f.Write(p.chunks, p.header)
}
