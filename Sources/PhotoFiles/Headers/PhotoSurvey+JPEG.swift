import Glibc

// ITU-T T.81: B.1.1.3 (markers), B.2.2 (frame header), B.2.3 (scan header), B.1.1.5 (stuffing).
extension PhotoSurvey {
    /// Walks the segments. If later scans are possible, in a progressive photo or one with a scan for each component, they are
    /// searched in the coded pixels, which reads the file once.
    mutating func readJPEG(_ file: inout FileWindow) {
        var offset = 2
        var components = 0
        var isProgressive = false
        while !isBeyond, let marker = Self.nextMarker(in: &file, from: offset) {
            let code = marker.code
            offset = marker.offset + 2
            if code == 0xD9 { return }
            guard let length = file.big(offset, 2), length >= 2 else { return }
            switch code {
            case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(code):
                guard let height = file.big(offset + 3, 2), let width = file.big(offset + 5, 2),
                    let count = file.byte(offset + 7)
                else { return }
                setSize(width, height)
                readFrame(Int(code), bits: file.byte(offset + 2) ?? 8)
                components = count
                isProgressive = [0xC2, 0xC6, 0xCA, 0xCE].contains(code)
                addMetadata(0)
            case 0xDA:
                scans += 1
                codesOffset = codesOffset ?? offset + length
                guard isProgressive || file.byte(offset + 2) != components else { return }
            case 0xE2 where file.has("ICC_PROFILE\0", at: offset + 2):
                addProfile(length - 16)
                addMetadata(0)
            case 0xE0...0xEF, 0xFE: addMetadata(length - 2)
            default: addMetadata(0)
            }
            offset += length
        }
    }

    /// Records the kind of a frame, and the kinds that no decoder reads (ITU-T T.81, table B.1).
    private mutating func readFrame(_ code: Int, bits: Int) {
        isDeepJPEG = bits == 12
        let advice = "export it as a usual JPEG of 8 bits a sample, or as a PNG or TIFF of 16"
        switch code {
        case 0xC3, 0xC7, 0xCB, 0xCF:
            obstacle =
                "it is a lossless JPEG of \(bits) bits a sample, which cameras use inside of RAW files; \(advice)"
        case 0xC5, 0xC6, 0xCD, 0xCE:
            obstacle = "it is a hierarchical JPEG, which no usual program writes; \(advice)"
        default:
            guard bits != 8 && bits != 12 else { return }
            obstacle =
                "it says that it has \(bits) bits a sample, and such a JPEG has 8 or 12; \(advice)"
        }
    }

    /// Returns the next marker that begins a segment, or the end marker. Bytes in between are skipped, as in libjpeg.
    private static func nextMarker(in file: inout FileWindow, from offset: Int)
        -> (offset: Int, code: UInt8)?
    {
        var offset = offset
        while true {
            let bytes = file.stretch(offset, atLeast: 2)
            guard bytes.count >= 2 else { return nil }
            let found = bytes.withUnsafeBytes { bytes -> Int? in
                guard let base = bytes.baseAddress else { return nil }
                var index = 0
                while index + 1 < bytes.count,
                    let next = memchr(base + index, 0xFF, bytes.count - index - 1)
                {
                    index = UnsafeRawPointer(next) - base
                    switch bytes[index + 1] {
                    // Stuffing, TEM, RST0 to RST7 and SOI, which have no segment.
                    case 0, 1, 0xD0...0xD8: index += 2
                    // A marker may be preceded by any number of these.
                    case 0xFF: index += 1
                    default: return index
                    }
                }
                return nil
            }
            if let found { return (offset + found, bytes[bytes.startIndex + found + 1]) }
            // The last byte may be the first byte of a marker.
            offset += bytes.count - 1
        }
    }
}
