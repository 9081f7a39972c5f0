package trap

import (
	"slices"
	"strings"
)

// roundsMost is how often a group of several segments may come, one right after another: the third time is a relative link
// that was resolved against itself, as in /2024/05/2024/05/2024/05/.
const roundsMost = 2

// pathRepeats reports whether one segment comes more than most times in a path, or a group of them in a row. Empty
// segments, as of //, are no repeats, and neither are short numbers: files are kept under /0/0/1/0/2, and tiles of maps.
func pathRepeats(path string, segments, most int) bool {
	if segments <= most && segments <= 2*roundsMost || segments > piecesMost {
		return segments > piecesMost // too short to hold that, or longer than any path that someone made
	}
	var stack [24]string
	all := stack[:0]
	for segment := range strings.SplitSeq(path[1:], "/") {
		all = append(all, segment)
	}
	return comesAgain(all, most, isShortNumber) || goesRound(all)
}

func isShortNumber(segment string) bool {
	n, ok := number(segment)
	return ok && n < 1000 && len(segment) <= 3
}

// comesAgain reports whether one of the pieces that are not empty is there more than most times, unless it may be.
func comesAgain(pieces []string, most int, may func(piece string) bool) bool {
	for i, piece := range pieces {
		if i+most >= len(pieces) {
			return false // too few are left
		}
		n := 1
		for _, other := range pieces[i+1:] {
			if other == piece && piece != "" {
				n++
			}
		}
		if n > most && !may(piece) {
			return true
		}
	}
	return false
}

// goesRound reports whether a group of two segments or more comes more than roundsMost times in a row.
func goesRound(segments []string) bool {
	for period := 2; (roundsMost+1)*period <= len(segments); period++ {
		same := 0 // segments in a row that are as the one a period before
		for i := period; i < len(segments); i++ {
			if segments[i] != segments[i-period] {
				same = 0
				continue
			}
			if same++; same == roundsMost*period && slices.ContainsFunc(segments[i-period:i], isNoShortNumber) {
				return true
			}
		}
	}
	return false
}

func isNoShortNumber(segment string) bool { return !isShortNumber(segment) }

// piecesMost is more pieces than any query has that someone wrote. It bounds the time that comparing them takes.
const piecesMost = 256

// queryRepeats reports whether one piece comes more than most times in a query. Pieces end at &, ; and ?, which is where
// a query that was pasted into itself shows.
func queryRepeats(query string, most int) bool {
	const ends = "&;?"
	if n := 1 + strings.Count(query, "&") + strings.Count(query, ";") + strings.Count(query, "?"); n <= most || n > piecesMost {
		return n > piecesMost
	}
	var stack [32]string
	pieces := stack[:0]
	for query != "" {
		end := strings.IndexAny(query, ends)
		if end < 0 {
			end = len(query)
		}
		pieces = append(pieces, query[:end])
		query = query[min(end+1, len(query)):]
	}
	return comesAgain(pieces, most, func(string) bool { return false })
}
