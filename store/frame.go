package store

import (
	"errors"

	"github.com/klauspost/compress/zstd"
)

var errFrame = errors.New("a column is not made of whole frames")

// frame is a part of a packed column that can be unpacked alone.
type frame struct {
	packed []byte
	plain  int // its length unpacked, as it says itself
}

// nextFrame takes the first frame off a packed column. It goes by the heads of the frame and of its blocks (RFC 8878, sections
// 3.1.1.1 and 3.1.1.2), since a frame does not say how long it is.
func nextFrame(column []byte) (f frame, rest []byte, err error) {
	var h zstd.Header
	if err := h.Decode(column); err != nil {
		return frame{}, nil, errors.Join(errFrame, err)
	}
	if h.Skippable || !h.HasFCS || h.FrameContentSize > maxColumn {
		return frame{}, nil, errFrame
	}
	end := h.HeaderSize
	for last := false; !last; {
		if len(column) < end+blockHeadBytes {
			return frame{}, nil, errFrame
		}
		head := int(column[end]) | int(column[end+1])<<8 | int(column[end+2])<<16
		last = head&1 != 0
		size := head >> 3
		if head>>1&3 == blockOfOneByte {
			size = 1
		}
		end += blockHeadBytes + size
	}
	if h.HasCheckSum {
		end += sumBytes
	}
	if len(column) < end {
		return frame{}, nil, errFrame
	}
	return frame{column[:end], int(h.FrameContentSize)}, column[end:], nil
}

const (
	blockHeadBytes = 3 // of a block of zstd
	blockOfOneByte = 1 // its type: one byte, repeated
)
