//go:build race

package hostile

const slowdown = 5 // the race detector's part
