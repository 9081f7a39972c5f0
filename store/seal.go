package store

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

var (
	errValueShort = errors.New("a value is cut short")
	errValueSum   = errors.New("a value's checksum does not match")
)

// sealValue returns a value with a CRC-32C over its key and itself.
func sealValue(key, value []byte) []byte {
	sealed := make([]byte, 0, len(value)+sumBytes)
	sealed = append(sealed, value...)
	return binary.LittleEndian.AppendUint32(sealed, valueSum(key, value))
}

func openValue(key, sealed []byte) ([]byte, error) {
	if len(sealed) < sumBytes {
		return nil, errValueShort
	}
	value := sealed[:len(sealed)-sumBytes]
	if valueSum(key, value) != sealOf(sealed) {
		return nil, errValueSum
	}
	return value, nil
}

// sealOf is the CRC that a sealed value carries; 0 when it is too short to carry one.
func sealOf(sealed []byte) uint32 {
	if len(sealed) < sumBytes {
		return 0
	}
	return binary.LittleEndian.Uint32(sealed[len(sealed)-sumBytes:])
}

func valueSum(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}
