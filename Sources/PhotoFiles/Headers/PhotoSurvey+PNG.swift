import RenderProtocol

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
    /// Whether the codes are declared to be sRGB.
    public internal(set) var isSRGB = false
    /// The exponent from light to codes, times 100,000.
    public internal(set) var gamma: Int?
    /// x and y of white, red, green and blue, times 100,000.
    public internal(set) var chromaticities: [Int]?

    /// Makes a declaration of nothing.
    public init() {}
}
