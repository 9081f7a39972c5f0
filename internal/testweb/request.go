package testweb

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
)

// request is what the server reads of a request. It is used again for the next one on its connection.
type request struct {
	head      bool
	target    []byte // as it came, without scheme and authority
	authority []byte
	gzip      bool
	old       bool // HTTP/1.0 or older: no chunks
	last      bool // the connection ends after the answer
}

const (
	maxLine  = 16 << 10 // of a request head; also what a connection may buffer
	maxLines = 200
)

// A requestError is answered with its status, and ends the connection.
type requestError int

func (e requestError) Error() string { return "testweb: request refused with " + strconv.Itoa(int(e)) }

// read reads the next request. io.EOF: the client has no more.
func (r *request) read(in *bufio.Reader) error {
	line, err := readLine(in)
	if err == nil && len(line) == 0 { // one empty line before a request is let pass (RFC 9112, section 2.2)
		line, err = readLine(in)
	}
	if err != nil {
		return err
	}
	method, rest, _ := bytes.Cut(line, []byte{' '})
	i := bytes.LastIndexByte(rest, ' ')
	if i < 0 {
		return requestError(400)
	}
	target, version := rest[:i], rest[i+1:]
	authority, target := cutURL(target) // clients of a proxy send the whole URL
	if len(target) == 0 || target[0] != '/' {
		return requestError(400)
	}
	r.head = string(method) == "HEAD"
	if !r.head && string(method) != "GET" {
		return requestError(405)
	}
	r.target = append(r.target[:0], target...)
	r.authority = append(r.authority[:0], authority...)
	r.old = string(version) != "HTTP/1.1"
	r.gzip, r.last = false, r.old
	return r.readFields(in)
}

func (r *request) readFields(in *bufio.Reader) error {
	for range maxLines {
		line, err := readLine(in)
		if err != nil {
			return errors.Join(requestError(400), err)
		}
		if len(line) == 0 {
			return nil
		}
		name, value, ok := bytes.Cut(line, []byte{':'})
		if !ok {
			return requestError(400)
		}
		if err := r.field(name, bytes.TrimSpace(value)); err != nil {
			return err
		}
	}
	return requestError(431)
}

func (r *request) field(name, value []byte) error {
	switch {
	case len(name) == len("Host") && bytes.EqualFold(name, []byte("Host")):
		if len(r.authority) == 0 {
			r.authority = append(r.authority, value...)
		}
	case len(name) == len("Connection") && bytes.EqualFold(name, []byte("Connection")):
		r.last = r.last || bytes.EqualFold(value, []byte("close"))
	case len(name) == len("Accept-Encoding") && bytes.EqualFold(name, []byte("Accept-Encoding")):
		r.gzip = bytes.Contains(value, []byte("gzip"))
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		return requestError(400) // no request here has a body
	case bytes.EqualFold(name, []byte("Content-Length")) && string(value) != "0":
		return requestError(400)
	}
	return nil
}

// readLine reads a line without its end; it is valid until the next read.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, requestError(414)
	case err != nil && len(line) > 0:
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte{'\r'}), nil
}
