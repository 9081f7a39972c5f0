package sortedrun

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
)

// A benchShape is a kind of run as a crawl has it.
type benchShape struct {
	name    string
	options Options
	entries func() []entry
}

var benchShapes = []benchShape{
	{"queue/plain", Options{}, queueEntries},
	{"queue/zstd", Options{Compress: true}, queueEntries},
	{"hash", Options{}, hashEntries},
}

const benchEntries = 1 << 16

// queueEntries are keys of 21 bytes, host, class, depth and number, and values of 180 bytes: a task with its URL and its
// referrer.
func queueEntries() []entry {
	rng := rand.New(rand.NewPCG(1, 2))
	hosts := make([]uint64, benchEntries/20)
	for i := range hosts {
		hosts[i] = rng.Uint64()
	}
	entries := make([]entry, benchEntries)
	for i := range entries {
		host := rng.IntN(len(hosts))
		key := binary.BigEndian.AppendUint64(nil, hosts[host])
		key = append(key, 1)
		key = binary.BigEndian.AppendUint32(key, uint32(rng.IntN(6)))
		key = binary.BigEndian.AppendUint64(key, uint64(i))
		value := fmt.Appendf(nil, "\x00\x01\x02\x03https://www.host%05d.example/catalogue/section-%d/%x/item-%d.html?page=%d",
			host, rng.IntN(50), rng.Uint64(), rng.IntN(1e6), rng.IntN(100))
		value = fmt.Appendf(value, "\x00/catalogue/section-%d/%x/overview-of-the-items-%d.html?sort=name&order=ascending&view=list",
			rng.IntN(50), rng.Uint64(), rng.IntN(1e6))
		entries[i] = entry{key: key, value: value[:min(180, len(value))]}
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	return entries
}

// hashEntries are random keys of 8 bytes and values of 5.
func hashEntries() []entry {
	rng := rand.New(rand.NewPCG(3, 4))
	entries := make([]entry, benchEntries)
	for i := range entries {
		value := binary.BigEndian.AppendUint64(nil, rng.Uint64N(1<<40))
		entries[i] = entry{key: binary.BigEndian.AppendUint64(nil, rng.Uint64()), value: value[3:]}
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	return entries
}
