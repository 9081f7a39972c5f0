package hostile

import "math/rand/v2"

// noise returns n bytes at random, the same for each seed.
func noise(n int, seed uint64) string {
	b := make([]byte, n)
	for i, dice := 0, rand.New(rand.NewPCG(seed, seed)); i < n; i++ {
		b[i] = byte(dice.Uint32())
	}
	return string(b)
}
