//go:build !race

#include "textflag.h"

// func askLines(table unsafe.Pointer, lines uint64, powers *[lanes]uint64, used int, hashes []uint64) (has uint64)
//
// Z0: powers. Z1: 63 in each lane. Z2: 1 in each. K1: the lanes in use. R8: the answers, the last one on top.
TEXT ·askLines(SB), NOSPLIT, $0-64
	MOVQ         table+0(FP), DI
	MOVQ         lines+8(FP), BX
	MOVQ         powers+16(FP), AX
	VMOVDQU64    (AX), Z0
	MOVQ         $63, AX
	VPBROADCASTQ AX, Z1
	MOVQ         $1, AX
	VPBROADCASTQ AX, Z2
	MOVQ         used+24(FP), CX
	SHLQ         CX, AX
	DECQ         AX
	KMOVW        AX, K1
	MOVQ         hashes_base+32(FP), SI
	MOVQ         hashes_len+40(FP), R9
	XORQ         R8, R8
	MOVQ         R9, R10
	TESTQ        R10, R10
	JZ           done

next:
	MOVQ         (SI), AX
	VPBROADCASTQ AX, Z3
	MULQ         BX             // DX: the line of the hash
	SHLQ         $6, DX         // lineBytes each
	VPMULLQ      Z0, Z3, Z3
	VPSRLQ       $61, Z3, Z4    // words of the line
	VPSRLQ       $55, Z3, Z3
	VPANDQ       Z1, Z3, Z3     // bits of the words
	VPERMQ       (DI)(DX*1), Z4, Z4
	VPSRLVQ      Z3, Z4, Z4
	VPTESTNMQ    Z2, Z4, K1, K2 // lanes in use whose bit is not set
	KMOVW        K2, AX
	CMPQ         AX, $1         // below, if there is none
	RCRQ         $1, R8
	ADDQ         $8, SI
	DECQ         R10
	JNZ          next

	MOVQ $64, CX
	SUBQ R9, CX
	SHRQ CX, R8

done:
	VZEROUPPER
	MOVQ R8, has+56(FP)
	RET
