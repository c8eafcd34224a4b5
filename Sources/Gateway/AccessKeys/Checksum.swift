/// Returns the CRC-32 as zlib and PNG compute it.
///
/// Source: ISO 3309, reflected polynomial 0xEDB88320.
func crc32(_ bytes: some Sequence<UInt8>) -> UInt32 {
    ~bytes.reduce(~0 as UInt32) { crc, byte in
        crc >> 8 ^ remainders[Int(UInt8(truncatingIfNeeded: crc) ^ byte)]
    }
}

/// The change of the checksum by each value of a byte.
private let remainders: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(byte) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
}
