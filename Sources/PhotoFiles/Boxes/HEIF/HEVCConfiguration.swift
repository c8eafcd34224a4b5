/// The facts about a stream in the box `hvcC`, which are known before decoding.
///
/// Source: ISO/IEC 14496-15 §8.3.3.1.
public struct HEVCConfiguration: Sendable, Equatable {
    /// The whole content, in the form for decoders.
    public let bytes: [UInt8]
    /// 0 for grey, 1 for 4:2:0, 2 for 4:2:2, 3 for 4:4:4.
    public let chromaFormat: Int
    /// Bits of a sample of luma and of chroma.
    public let lumaBits: Int, chromaBits: Int

    /// Most bytes; phones write 100.
    public static let bytesMax = 64 << 10

    /// Nil if it is too short, too long, or of a later version.
    public init?(_ content: ArraySlice<UInt8>) {
        guard (23...Self.bytesMax).contains(content.count), content.first == 1 else { return nil }
        bytes = Array(content)
        chromaFormat = Int(bytes[16] & 3)
        lumaBits = Int(bytes[17] & 7) + 8
        chromaBits = Int(bytes[18] & 7) + 8
    }

    /// Returns whether a configuration has the message of a layer of alpha (ITU-T H.265 §F.14.2.8: payload 165 of a prefix SEI).
    static func hasAlphaLayer(_ content: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(content)
        guard bytes.count > 23 else { return false }
        var offset = 23
        for _ in 0..<bytes[22] {
            guard offset + 3 <= bytes.count else { return false }
            let isPrefix = bytes[offset] & 0x3F == 39
            let count = Int(bytes[offset + 1]) << 8 + Int(bytes[offset + 2])
            offset += 3
            for _ in 0..<count {
                guard offset + 2 <= bytes.count else { return false }
                let length = Int(bytes[offset]) << 8 + Int(bytes[offset + 1])
                // Two bytes of a header precede the payload's type.
                if isPrefix, length > 3, offset + 4 < bytes.count, bytes[offset + 4] == 165 {
                    return true
                }
                offset += 2 + length
            }
        }
        return false
    }
}
