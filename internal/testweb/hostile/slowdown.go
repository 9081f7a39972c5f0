//go:build !race

package hostile

const slowdown = 1 // what everything takes longer by
