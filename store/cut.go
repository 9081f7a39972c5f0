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
	Runs       Manifest        `json:"runs"`  // none in a directory of before there were runs: they are made from the logs
	Queue      Coverage        `json:"queue"` // by the queue runs among these
	Books      json.RawMessage `json:"books"` // counters, settings and all that cannot be remade from the logs
}

// point is a cut with the open tails of both logs: all that a checkpoint holds but the rows. The same bytes are the
// value in state.db and the file beside it that readers use:
//
//	crawl checkpoint 1 LF
//	{crawl_id, cut, admission_tail, done_tail} as one line of JSON, the tails being lengths LF
//	the admission log's tail and the done log's tail, as blocks
//	CRC-32C of all before it, 4 bytes little-endian
type point struct {
	Cut
	crawlID                 string // of format.json
	admissionTail, doneTail []byte
}

type pointHead struct {
	CrawlID       string `json:"crawl_id"`
	Cut           Cut    `json:"cut"`
	AdmissionTail int    `json:"admission_tail"`
	DoneTail      int    `json:"done_tail"`
}

const pointMagic = "crawl checkpoint 1\n"

func (p point) encode() ([]byte, error) {
	head, err := json.Marshal(pointHead{p.crawlID, p.Cut, len(p.admissionTail), len(p.doneTail)})
	if err != nil {
		return nil, fmt.Errorf("encode checkpoint %d: %w", p.Number, err)
	}
	out := make([]byte, 0, len(pointMagic)+len(head)+len(p.admissionTail)+len(p.doneTail)+8)
	out = append(out, pointMagic...)
	out = append(out, head...)
	out = append(out, '\n')
	out = append(out, p.admissionTail...)
	out = append(out, p.doneTail...)
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
	line, tails, found := bytes.Cut(rest, []byte("\n"))
	if !found {
		return point{}, errors.New("the checkpoint has no head")
	}
	var head pointHead
	if err := json.Unmarshal(line, &head); err != nil {
		return point{}, err
	}
	if head.AdmissionTail < 0 || head.DoneTail < 0 || head.AdmissionTail+head.DoneTail != len(tails) {
		return point{}, errors.New("the checkpoint's tails have other lengths than its head says")
	}
	return point{
		Cut: head.Cut, crawlID: head.CrawlID,
		admissionTail: tails[:head.AdmissionTail], doneTail: tails[head.AdmissionTail:],
	}, nil
}
