package parse

const (
	// pieceRefs is how many references make a piece: more than pages have that people read.
	pieceRefs = 1 << 14

	// refBytes is how long they are together.
	refBytes = 1 << 20
)

// room makes room for one more reference of n bytes, and reports whether it is to be noted.
func (p *Parser) room(n int) bool {
	switch {
	case p.long && !p.inPieces:
		return false
	case p.in.Piece == nil || len(p.refs) == 0, len(p.refs) < pieceRefs && len(p.arena)+n <= refBytes:
		return true
	case p.inPieces:
		p.handOver()
		return true
	}
	p.long, p.refs = true, p.refs[:0]
	return false
}

// scanInPieces reads a long page once more, its base and its word on following links being known by now.
func (p *Parser) scanInPieces(text []byte) {
	hasBase, base, noFollow := p.hasBase, len(p.base), p.page.NoFollow
	p.start()
	p.hasBase, p.base, p.page.NoFollow = hasBase, p.base[:base], noFollow
	p.long, p.inPieces = true, true
	p.readHeader()
	p.scan(text)
}

// handOver ends a piece.
func (p *Parser) handOver() {
	p.resolve()
	p.in.Piece(p.page)
	clear(p.page.Links)
	p.page.Links = p.page.Links[:0]
	p.page.Repeated, p.page.Malformed, p.page.Unsupported = 0, 0, 0
	p.refs, p.arena = p.refs[:0], p.arena[:0]
	p.refTable.reset()
	p.linkTable.reset()
}
