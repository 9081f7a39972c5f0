#include "textflag.h"

// func prefetchWords(words unsafe.Pointer, at []uint64)
TEXT ·prefetchWords(SB), NOSPLIT, $0-32
	MOVQ  words+0(FP), DI
	MOVQ  at_base+8(FP), SI
	MOVQ  at_len+16(FP), CX
	TESTQ CX, CX
	JZ    done

next:
	MOVQ       (SI), AX
	PREFETCHT0 (DI)(AX*8)
	ADDQ       $8, SI
	DECQ       CX
	JNZ        next

done:
	RET
