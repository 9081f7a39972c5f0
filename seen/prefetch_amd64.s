#include "textflag.h"

// func prefetchLines(table unsafe.Pointer, lines uint64, hashes []uint64)
TEXT ·prefetchLines(SB), NOSPLIT, $0-40
	MOVQ  table+0(FP), DI
	MOVQ  lines+8(FP), BX
	MOVQ  hashes_base+16(FP), SI
	MOVQ  hashes_len+24(FP), CX
	TESTQ CX, CX
	JZ    done

next:
	MOVQ       (SI), AX
	MULQ       BX           // DX: the line of the hash
	SHLQ       $6, DX       // lineBytes each
	PREFETCHT0 (DI)(DX*1)
	ADDQ       $8, SI
	DECQ       CX
	JNZ        next

done:
	RET
