package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

// Cut is one point in the order of commits: how long each file was, and what the crawl's books said.
type Cut struct {
	Number     uint64          `json:"number"` // 1, 2, 3… over the crawl's life
	At         time.Time       `json:"at"`     // UTC, to the millisecond
	Admissions LogMark         `json:"admissions"`
	Done       LogMark         `json:"done"`
	Pages      PageMark        `json:"pages"`
	Refused    RefusedMark     `json:"refused"`
	Runs       Manifest        `json:"runs"`  // none in a directory of before there were runs: they are made from the logs
	Queue      Coverage        `json:"queue"` // by the queue runs among these
	Books      json.RawMessage `json:"books"` // counters, settings and all that cannot be remade from the logs
}

// point is a cut and the crawl's name: all that a checkpoint holds but the rows. The same bytes are the value in state.db
// and the file beside it that readers use:
//
//	crawl checkpoint 2 LF
//	{crawl_id, cut} as one line of JSON LF
//	CRC-32C of all before it, 4 bytes little-endian
type point struct {
	Cut
	crawlID string // of format.json
}

type pointHead struct {
	CrawlID string `json:"crawl_id"`
	Cut     Cut    `json:"cut"`
}

const pointMagic = "crawl checkpoint 2\n"

func (p point) encode() ([]byte, error) {
	head, err := json.Marshal(pointHead{p.crawlID, p.Cut})
	if err != nil {
		return nil, fmt.Errorf("encode checkpoint %d: %w", p.Number, err)
	}
	out := make([]byte, 0, len(pointMagic)+len(head)+1+sumBytes)
	out = append(out, pointMagic...)
	out = append(out, head...)
	out = append(out, '\n')
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli)), nil
}

func decodePoint(data []byte) (point, error) {
	if len(data) < 4 {
		return point{}, errors.New("the checkpoint is cut short")
	}
	body, sum := data[:len(data)-4], binary.LittleEndian.Uint32(data[len(data)-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return point{}, errors.New("the checkpoint's checksum does not match")
	}
	rest, found := bytes.CutPrefix(body, []byte(pointMagic))
	if !found {
		return point{}, errors.New("this is no checkpoint")
	}
	line, found := bytes.CutSuffix(rest, []byte("\n"))
	if !found {
		return point{}, errors.New("the checkpoint has no end of its line")
	}
	var head pointHead
	if err := json.Unmarshal(line, &head); err != nil {
		return point{}, err
	}
	return point{Cut: head.Cut, crawlID: head.CrawlID}, nil
}
