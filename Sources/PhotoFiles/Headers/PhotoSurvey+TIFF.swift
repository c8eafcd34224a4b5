import CZlib
import Glibc
import RenderProtocol

// TIFF 6.0 §2 and §8; BigTIFF as libtiff implements it (8-byte counts and offsets, entries of 20 bytes).
import Edits

extension PhotoSurvey {
    /// The encoding of numbers in the file.
    struct Layout {
        let isBigEndian: Bool
        let isBigTIFF: Bool
        var countBytes: Int { isBigTIFF ? 8 : 2 }
        var offsetBytes: Int { isBigTIFF ? 8 : 4 }
        var entryBytes: Int { isBigTIFF ? 20 : 12 }

        func number(_ file: inout FileWindow, _ offset: Int, _ count: Int) -> Int? {
            file.number(offset, count, isBig: isBigEndian)
        }
    }

    /// Most directories below the first one that are read.
    private static let subDirectoriesMax = 32

    /// Walks the chain of directories and sums the lengths of their values: libtiff loads the values of each directory that libvips
    /// counts, including offsets of strips and unknown tags.
    ///
    /// The picture is the first one, or if that is a smaller copy, the first below it or after it that is not.
    mutating func readTIFF(_ file: inout FileWindow) {
        guard let first = file.byte(0), let second = file.byte(2), let third = file.byte(3) else {
            return
        }
        let layout = Layout(isBigEndian: first == 0x4D, isBigTIFF: second == 43 || third == 43)
        var link = layout.isBigTIFF ? 8 : 4
        // A chain may contain a loop, which libtiff detects.
        var seen: Set<Int> = []
        while !isBeyond, let offset = layout.number(&file, link, layout.offsetBytes), offset > 0,
            offset < file.length, seen.insert(offset).inserted
        {
            pages += 1
            let page = TIFFPicture(offset: offset, page: pages - 1)
            guard let end = readDirectory(&file, page, layout) else { break }
            if pages == 1 { readSubDirectories(&file, layout) }
            link = end
        }
        guard var picture = tiff, !isBeyond else { return }
        for (tag, field) in picture.fields where picture.numbers[tag] == nil {
            picture.numbers[tag] = Self.numbers(field, &file, layout)
        }
        picture.isWhole = isWhole(picture, in: &file, layout)
        tiff = picture
        obstacle = picture.obstacle
        if let width = picture[.width], let height = picture[.height] { setSize(width, height) }
    }

    /// Reads the directories below the first one.
    private mutating func readSubDirectories(_ file: inout FileWindow, _ layout: Layout) {
        guard let first = tiff else { return }
        let offsets = first.numbers[TIFFPicture.Tag.subDirectories.rawValue] ?? []
        for (index, offset) in offsets.prefix(Self.subDirectoriesMax).enumerated()
        where offset > 0 && offset < file.length && !isBeyond {
            _ = readDirectory(
                &file, TIFFPicture(offset: offset, page: index, isBelow: true), layout)
        }
    }

    /// Reads a directory, and keeps it if it is the picture.
    ///
    /// - Returns: the position of the link to the next one; nil for a truncated directory, which is not read.
    private mutating func readDirectory(
        _ file: inout FileWindow, _ directory: TIFFPicture, _ layout: Layout
    ) -> Int? {
        guard let count = layout.number(&file, directory.offset, layout.countBytes) else {
            return nil
        }
        var directory = directory
        let start = directory.offset + layout.countBytes
        guard count <= (file.length - start) / layout.entryBytes else { return nil }
        for index in 0..<count {
            guard !isBeyond else { return nil }
            readEntry(&file, at: start + index * layout.entryBytes, layout, of: &directory)
        }
        if directory.isReduced, !directory.isBelow { reducedPages += 1 }
        if directory.isFirst { firstTIFF = directory }
        if tiff.map({ $0.isReduced && !directory.isReduced }) ?? true {
            tiff = directory
        } else if directory.isBelow, !directory.isReduced {
            hasPicturesBelow = true
        }
        return start + count * layout.entryBytes
    }

    private mutating func readEntry(
        _ file: inout FileWindow, at offset: Int, _ layout: Layout, of directory: inout TIFFPicture
    ) {
        guard let tag = layout.number(&file, offset, 2),
            let type = layout.number(&file, offset + 2, 2),
            let count = layout.number(&file, offset + 4, layout.offsetBytes)
        else { return }
        let (declaredLength, overflows) = count.multipliedReportingOverflow(
            by: Self.typeBytes(type))
        let value = offset + 4 + layout.offsetBytes
        // Values that do not fit into the entry are stored elsewhere, possibly outside of the file.
        let start =
            declaredLength > layout.offsetBytes
            ? layout.number(&file, value, layout.offsetBytes) : value
        let bytes = file.existing(overflows ? .max : declaredLength, from: start ?? file.length)
        if tag == TIFFPicture.Tag.profile.rawValue {
            addProfile(bytes)
        } else {
            addMetadata(bytes)
        }
        guard let known = TIFFPicture.Tag(rawValue: tag), let start, !overflows,
            bytes == declaredLength, directory.fields[tag] == nil
        else { return }
        let field = TIFFPicture.Field(type: type, count: count, offset: start)
        directory.fields[tag] = field
        // Numbers elsewhere are read for the picture alone: a file may have a thousand directories.
        if start == value || known == .subDirectories && pages == 1 {
            directory.numbers[tag] = Self.numbers(field, &file, layout)
        }
    }

    /// Returns the first numbers of a field.
    private static func numbers(
        _ field: TIFFPicture.Field, _ file: inout FileWindow, _ layout: Layout
    ) -> [Int] {
        numbers(field, first: 0, count: min(field.count, TIFFPicture.numbersMax), &file, layout)
    }

    /// Returns unsigned numbers of a field; fewer if it holds none.
    private static func numbers(
        _ field: TIFFPicture.Field, first: Int, count: Int, _ file: inout FileWindow,
        _ layout: Layout
    ) -> [Int] {
        // BYTE, SHORT, LONG, IFD, LONG8, IFD8.
        guard [1, 3, 4, 13, 16, 18].contains(field.type) else { return [] }
        let bytes = typeBytes(field.type)
        return (first..<first + count).compactMap {
            layout.number(&file, field.offset + $0 * bytes, bytes)
        }
    }

    /// Numbers that are read together, so that offsets and counts need few reads.
    private static let numbersAtOnce = 1024

    /// Whether all strips or tiles lie in the file; nil if the directory does not list them.
    private func isWhole(
        _ picture: TIFFPicture, in file: inout FileWindow, _ layout: Layout
    ) -> Bool? {
        let (offsetTag, countTag): (TIFFPicture.Tag, TIFFPicture.Tag) =
            picture.isTiled
            ? (.tileOffsets, .tileByteCounts) : (.stripOffsets, .stripByteCounts)
        guard let offsets = picture.fields[offsetTag.rawValue],
            let counts = picture.fields[countTag.rawValue], offsets.count == counts.count
        else { return nil }
        for first in stride(from: 0, to: offsets.count, by: Self.numbersAtOnce) {
            let count = min(Self.numbersAtOnce, offsets.count - first)
            let starts = Self.numbers(offsets, first: first, count: count, &file, layout)
            let lengths = Self.numbers(counts, first: first, count: count, &file, layout)
            guard starts.count == count, lengths.count == count else { return nil }
            guard zip(starts, lengths).allSatisfy({ Self.sum($0, $1) <= file.length }) else {
                return false
            }
        }
        return true
    }

    /// Returns the bytes of a value of a type.
    static func typeBytes(_ type: Int) -> Int {
        (16...18).contains(type) ? 8 : TIFFBytes.size(ofType: type) ?? 1
    }
}

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

// PNG third edition: §5.3 (chunks), §11.2.1 (IHDR), §11.3.2 (colour), §11.3.3 (texts).
extension PhotoSurvey {
    /// Walks the chunks up to the pixels, and inflates profile and texts without keeping them.
    ///
    /// For a chunk that is longer than the file, the declared length counts: libvips' decoder allocates that much memory before it
    /// detects the end of the file (1.1 GB for a chunk of 57 bytes).
    mutating func readPNG(_ file: inout FileWindow) {
        var offset = 8
        while !isBeyond, let declaredLength = file.big(offset, 4),
            let name = file.big(offset + 4, 4)
        {
            let data = offset + 8
            let end = data + file.existing(declaredLength, from: data)
            switch name {
            case Self.name("IHDR"):
                guard let width = file.big(data, 4), let height = file.big(data + 4, 4) else {
                    return
                }
                setSize(width, height)
            case Self.name("IDAT"), Self.name("IEND"): return
            // cICP takes precedence over all other colour information.
            case Self.name("cICP"):
                let codes = file.bytes(data, declaredLength == 4 ? 4 : 0).map(Int.init)
                if codes.count == 4, codes[2...].elementsEqual([0, 1]) {
                    pngColour.codes = PNGColour.Codes(primaries: codes[0], transfer: codes[1])
                    noteTransfer(codes[1])
                }
                addMetadata(declaredLength)
            case Self.name("sRGB"):
                pngColour.isSRGB = true
                addMetadata(declaredLength)
            case Self.name("gAMA"):
                pngColour.gamma = declaredLength == 4 ? file.big(data, 4) : nil
                addMetadata(declaredLength)
            case Self.name("cHRM"):
                let numbers = (0..<declaredLength / 4).prefix(9).compactMap {
                    file.big(data + 4 * $0, 4)
                }
                pngColour.chromaticities = numbers.count == 8 ? numbers : nil
                addMetadata(declaredLength)
            case Self.name("iCCP"):
                pngColour.hasProfile = true
                // A name, its terminator, the compression method.
                let start = Self.endOfText(in: &file, from: data, to: end) + 1
                addProfile(
                    InflatedLength.of(start..<max(start, end), in: &file, most: limits.profileMax))
                addMetadata(declaredLength)
            case Self.name("zTXt"):
                let start = Self.endOfText(in: &file, from: data, to: end) + 1
                addMetadata(max(declaredLength, inflatedText(in: &file, start..<max(start, end))))
            case Self.name("iTXt"):
                // A key, the compression flag and method, a language and the translated key.
                let key = Self.endOfText(in: &file, from: data, to: end)
                let language = Self.endOfText(in: &file, from: key + 2, to: end)
                let start = Self.endOfText(in: &file, from: language, to: end)
                let isCompressed = file.byte(key) == 1
                addMetadata(
                    isCompressed
                        ? max(declaredLength, inflatedText(in: &file, start..<max(start, end)))
                        : declaredLength)
            default: addMetadata(declaredLength)
            }
            offset = data + declaredLength + 4
        }
    }

    private func inflatedText(in file: inout FileWindow, _ range: Range<Int>) -> Int {
        InflatedLength.of(range, in: &file, most: limits.metadataMax)
    }

    /// Returns the position after the 0 that ends a text, or the end of the chunk.
    private static func endOfText(in file: inout FileWindow, from start: Int, to end: Int) -> Int {
        var offset = start
        while offset < end {
            let bytes = file.stretch(offset, atLeast: 1).prefix(end - offset)
            guard !bytes.isEmpty else { return end }
            if let zero = bytes.firstIndex(of: 0) { return offset + zero - bytes.startIndex + 1 }
            offset += bytes.count
        }
        return end
    }

    private static func name(_ text: String) -> Int { text.utf8.reduce(0) { $0 << 8 | Int($1) } }
}

/// The chunks of a PNG that declare the meaning of its codes, beside an ICC profile.
///
/// Source: PNG third edition §11.3.2.1 (cHRM), §11.3.2.2 (gAMA), §11.3.2.5 (sRGB), §11.3.2.6 (cICP); §4.3 and §13.13 (precedence:
/// cICP, iCCP, sRGB, then gAMA and cHRM).
public struct PNGColour: Sendable, Equatable {
    /// The numbers of ITU-T H.273 for primaries and transfer function.
    public struct Codes: Sendable, Equatable {
        public let primaries, transfer: Int
    }

    /// The chunk cICP; nil without it, and for codes that are not red, green and blue of the full range (matrix 0, range 1), as
    /// Chromium ignores them, too.
    public internal(set) var codes: Codes?
    /// Whether there is an ICC profile.
    public internal(set) var hasProfile = false
    public internal(set) var isSRGB = false
    /// The exponent from light to codes, times 100,000.
    public internal(set) var gamma: Int?
    /// x and y of white, red, green and blue, times 100,000.
    public internal(set) var chromaticities: [Int]?

    /// Makes a declaration of nothing.
    public init() {}
}

/// The length of zlib-compressed data after inflation, determined by inflating repeatedly into one buffer.
enum InflatedLength {
    private static let bufferBytes = 64 << 10

    /// Returns the bytes that a zlib stream (RFC 1950) inflates to, up to the first damage.
    ///
    /// - Parameters:
    ///   - range: its byte range in the file.
    ///   - most: inflation stops beyond this length.
    static func of(_ range: Range<Int>, in file: inout FileWindow, most: Int) -> Int {
        var length = 0
        var offset = range.lowerBound
        var buffer = [UInt8](repeating: 0, count: bufferBytes)
        var stream = z_stream()
        // zlib compares the stream's address, so the stream must not move.
        withUnsafeMutablePointer(to: &stream) { stream in
            var status = inflateInit_(stream, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
            defer { inflateEnd(stream) }
            while status == Z_OK, length <= most, offset < range.upperBound {
                var input = Array(
                    file.bytes(offset, min(range.upperBound - offset, bufferBytes)))
                guard !input.isEmpty else { return }
                offset += input.count
                input.withUnsafeMutableBufferPointer { input in
                    stream.pointee.next_in = input.baseAddress
                    stream.pointee.avail_in = UInt32(input.count)
                    repeat {
                        buffer.withUnsafeMutableBufferPointer { buffer in
                            stream.pointee.next_out = buffer.baseAddress
                            stream.pointee.avail_out = UInt32(buffer.count)
                            status = inflate(stream, Z_NO_FLUSH)
                            length += buffer.count - Int(stream.pointee.avail_out)
                        }
                    } while status == Z_OK && length <= most && stream.pointee.avail_out == 0
                    // All of the input is consumed: more may follow.
                    if status == Z_BUF_ERROR { status = Z_OK }
                }
            }
        }
        return length
    }
}
