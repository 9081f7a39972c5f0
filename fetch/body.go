package fetch

import "io"

// body is the payload of an HTTP/1.1 answer, as it is read.
type body struct {
	cn *conn
	framing
	left   int64 // of a length
	chunks dechunker
	excess bool // more came than belongs to it
	ended  bool // all that belongs to it came, and not by the end of the connection
}

func newBody(cn *conn, f framing) *body {
	return &body{cn: cn, framing: f, left: f.length, ended: f.length == 0}
}

// reusable reports whether the connection is where the next answer begins.
func (b *body) reusable() bool { return b.keep && b.ended && !b.excess && b.cn.in.left() == 0 }

// Read gives io.EOF with the last bytes, so that nothing needs to be asked for once more. Bytes beyond a length are left
// where they are.
func (b *body) Read(p []byte) (int, error) {
	switch {
	case b.chunked:
		return b.readChunks(p)
	case b.length < 0:
		return b.raw(p)
	case b.left == 0:
		return 0, io.EOF
	}
	n, err := b.raw(p[:min(int64(len(p)), b.left)])
	if b.left -= int64(n); b.left == 0 {
		b.ended = true
		return n, io.EOF
	}
	return n, unexpected(err)
}

func (b *body) readChunks(p []byte) (int, error) {
	for {
		n, err := b.raw(p)
		payload, used, broken := b.chunks.take(p[:n])
		b.excess = b.excess || used < n
		switch {
		case broken != nil:
			return payload, broken
		case b.chunks.state == chunksDone:
			b.ended = true
			return payload, io.EOF
		case err == io.EOF && b.chunks.complete():
			return payload, io.EOF
		case payload > 0 || err != nil:
			return payload, unexpected(err)
		}
	}
}

// raw reads what came: first what came with the head, whose buffer is given back after that.
func (b *body) raw(p []byte) (int, error) {
	if b.cn.in.left() > 0 {
		return b.cn.in.read(p), nil
	}
	b.cn.in.release()
	return b.cn.Read(p)
}

// unexpected tells an end that comes too early from a regular one.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
