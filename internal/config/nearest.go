package config

import "slices"

// likely returns the key of the table that word may have been meant for, or "".
func likely(word string, usable func(*setting) bool) string {
	var keys []string
	for i := range table {
		d := &table[i]
		if !usable(d) {
			continue
		}
		if d.alias == word { // only a flag has it
			return d.key
		}
		keys = append(keys, d.key)
	}
	return nearest(word, keys)
}

// maxMisspelt is the length of a word, in bytes, past which no key can be meant.
const maxMisspelt = 60

// nearest returns the candidate that differs from word in the fewest letters, or "" when none is near.
func nearest(word string, candidates []string) string {
	if len(word) > maxMisspelt {
		return ""
	}
	best, least := "", max(1, len(word)/3)+1
	for _, c := range candidates {
		if d := distance(word, c); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance is the number of letters to insert, delete or replace to make b of a (Levenshtein 1966).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		previous := slices.Clone(row)
		row[0] = i + 1
		for j := range len(b) {
			replace := previous[j]
			if a[i] != b[j] {
				replace++
			}
			row[j+1] = min(replace, row[j]+1, previous[j+1]+1)
		}
	}
	return row[len(b)]
}
