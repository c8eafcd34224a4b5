/// CRC-32 as zlib and PNG compute it.
///
/// Source: ISO 3309, reflected polynomial 0xEDB88320. Bit by bit: a key has 60 bytes.
func crc32(_ bytes: some Sequence<UInt8>) -> UInt32 {
    ~bytes.reduce(~0 as UInt32) { crc, byte in
        (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in
            crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1
        }
    }
}
