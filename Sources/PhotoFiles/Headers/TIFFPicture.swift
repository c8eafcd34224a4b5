/// The directory of a TIFF's picture: the layout and the meaning of its samples.
///
/// Source: TIFF 6.0 §8 and §18 to §23, TIFF Technical Note 2 (ICCLab), Photoshop TIFF Technical Notes (NewSubfileType, SubIFDs).
public struct TIFFPicture: Sendable, Equatable {
    /// The tags that are read.
    public enum Tag: Int, Sendable {
        case newSubfileType = 254, subfileType = 255, width = 256, height = 257, bits = 258
        case compression = 259, photometric = 262, stripOffsets = 273, orientation = 274
        case samples = 277, rowsPerStrip = 278, stripByteCounts = 279, xResolution = 282
        case yResolution = 283, planes = 284, resolutionUnit = 296, tileWidth = 322
        case tileHeight = 323, tileOffsets = 324, tileByteCounts = 325, subDirectories = 330
        case inkSet = 332, inks = 334, extraSamples = 338, sampleFormat = 339
        case lumaCoefficients = 529, subsampling = 530, referenceBlackWhite = 532, xmp = 700
        case iptc = 33_723, resources = 34_377, profile = 34_675, contentCredentials = 52_545
    }

    /// The values of a tag in the file: unsigned numbers, or bytes.
    struct Field: Sendable, Equatable {
        let type: Int
        let count: Int
        let offset: Int
    }

    public let offset: Int
    /// The number of the directory in the chain, from 0, or of the first one's sub-directories if ``isBelow``.
    public let page: Int
    /// Whether it is a directory below the first one.
    public let isBelow: Bool
    var fields: [Int: Field] = [:]
    /// The first numbers of each tag, at most ``numbersMax``.
    var numbers: [Int: [Int]] = [:]
    /// Whether all pixels lie in the file; nil if the directory does not tell.
    public internal(set) var isWhole: Bool?

    /// A picture has at most 64 channels.
    static let numbersMax = 64

    init(offset: Int, page: Int, isBelow: Bool = false) {
        (self.offset, self.page, self.isBelow) = (offset, page, isBelow)
    }

    /// Whether it is the first directory.
    public var isFirst: Bool { page == 0 && !isBelow }

    /// Returns the first number of a tag, or nil.
    public subscript(tag: Tag) -> Int? { numbers[tag.rawValue]?.first }

    /// Whether it is a smaller copy of another picture, or a mask for one.
    public var isReduced: Bool {
        if let type = self[.newSubfileType] { return type & 5 != 0 }
        return self[.subfileType] == 2
    }

    /// The bits of a sample, if all samples have the same number of bits.
    public var bits: Int? {
        let bits = numbers[Tag.bits.rawValue] ?? [1]
        return Set(bits).count == 1 ? bits[0] : nil
    }

    /// Whether it has Content Credentials (``C2PA``).
    public var isSigned: Bool { fields[Tag.contentCredentials.rawValue] != nil }
    public var isFloat: Bool { self[.sampleFormat] == 3 }
    public var samples: Int { self[.samples] ?? 1 }
    /// Whether each channel is stored by itself.
    public var isPlanar: Bool { self[.planes] == 2 }
    /// Whether pixels are stored in tiles.
    public var isTiled: Bool { self[.tileWidth] != nil }

    /// The meanings of colours that are read.
    public enum Colours: Sendable, Equatable {
        /// One channel, white or black at 0.
        case grey(isWhiteZero: Bool)
        case rgb
        case cmyk
        /// CIE L*a*b* of illuminant D50; `isICC`: numbers as in an ICC profile.
        case lab(isICC: Bool)
        /// Luma and chroma (Y, Cb, Cr) of the same size, which are RGB of the file's profile.
        case luma

        public var count: Int {
            switch self {
            case .grey: 1
            case .rgb, .lab, .luma: 3
            case .cmyk: 4
            }
        }
    }

    /// The meaning of the first channels; nil for others, such as a palette, or luma and chroma that a decoder of JPEG converts.
    public var colours: Colours? {
        switch self[.photometric] {
        case 0: .grey(isWhiteZero: true)
        case 1: .grey(isWhiteZero: false)
        case 2: .rgb
        case 5 where self[.inkSet] ?? 1 == 1 && self[.inks] ?? 4 == 4: .cmyk
        case 8: .lab(isICC: false)
        case 9: .lab(isICC: true)
        case Self.luma where !isFloat && !isJPEG && chromaSteps == [1, 1]: .luma
        default: nil
        }
    }

    private static let luma = 6
    /// Kinds of colours that libvips reads as RGB or grey: a mask of transparency, and the L*a*b* of facsimile (RFC 2301).
    private static let unread: Set = [4, 10]

    /// Whether pixels are coded by a JPEG of some kind, whose decoder makes RGB of luma and chroma.
    private var isJPEG: Bool { [6, 7, 34_892].contains(self[.compression] ?? 1) }

    /// Pixels for each number of chroma, across and down. Source: TIFF 6.0 §21 for the default.
    private var chromaSteps: [Int] {
        Array((numbers[Tag.subsampling.rawValue] ?? [2, 2]).prefix(2))
    }

    /// The numbers by which luma and chroma become RGB. Source: TIFF 6.0 §21 for them and their defaults.
    public struct Luma: Sendable, Equatable {
        /// The parts of red, green and blue in luma.
        public let coefficients: [Double]
        /// The codes of black and white of luma, and of no and full colour of both chromas.
        public let blackAndWhite: [Double]
    }

    /// Returns the numbers by which integers of luma and chroma become RGB; the defaults where the file has none that make sense.
    public func luma(_ file: inout FileWindow) -> Luma {
        let most = Double(1 << (bits ?? 8) - 1), middle = Double(1 << ((bits ?? 8) - 1))
        let coefficients = fractions(.lumaCoefficients, 3, &file).flatMap { numbers in
            numbers.allSatisfy { $0 > 0 && $0 < 1 } ? numbers : nil
        }
        let codes = fractions(.referenceBlackWhite, 6, &file).flatMap { numbers in
            [0, 2, 4].allSatisfy { numbers[$0 + 1] > numbers[$0] } ? numbers : nil
        }
        return Luma(
            coefficients: coefficients ?? [0.299, 0.587, 0.114],
            blackAndWhite: codes ?? [0, most, middle, most, middle, most])
    }

    /// The channel of alpha, and whether colours are multiplied by it.
    ///
    /// A single further channel of unspecified purpose counts as alpha: programs before TIFF 6.0 wrote it so, and libtiff reads it
    /// so. Of several, only a declared one does.
    public var alpha: (channel: Int, isAssociated: Bool)? {
        guard let first = colours?.count, samples > first else { return nil }
        let kinds = (numbers[Tag.extraSamples.rawValue] ?? []).prefix(samples - first)
        if let index = kinds.firstIndex(where: { $0 == 1 || $0 == 2 }) {
            return (first + index, kinds[index] == 1)
        }
        return samples == first + 1 && kinds.first ?? 0 == 0 ? (first, false) : nil
    }

    /// The number of channels that are neither colour nor alpha.
    public var spareChannels: Int {
        guard let first = colours?.count else { return 0 }
        return max(0, samples - first - (alpha == nil ? 0 : 1))
    }

    /// The bytes of a tag, such as the profile.
    public func range(of tag: Tag) -> Range<Int>? {
        fields[tag.rawValue].map { field in
            field.offset..<field.offset + field.count * PhotoSurvey.typeBytes(field.type)
        }
    }

    /// Returns a number of a tag that is a fraction, or nil.
    public func fraction(_ tag: Tag, _ file: inout FileWindow) -> Double? {
        fractions(tag, 1, &file)?[0]
    }

    /// Returns the first numbers of a tag that are fractions, or nil.
    private func fractions(_ tag: Tag, _ count: Int, _ file: inout FileWindow) -> [Double]? {
        guard let field = fields[tag.rawValue], field.type == 5, field.count >= count,
            let isBig = file.byte(0).map({ $0 == 0x4D })
        else { return nil }
        var fractions: [Double] = []
        for index in 0..<count {
            let offset = field.offset + 8 * index
            guard let number = file.number(offset, 4, isBig: isBig),
                let divisor = file.number(offset + 4, 4, isBig: isBig), divisor > 0
            else { return nil }
            fractions.append(Double(number) / Double(divisor))
        }
        return fractions
    }

    /// The reason why the picture cannot be read, as the end of a sentence; nil if the directory shows none.
    var obstacle: String? {
        guard samples <= Self.numbersMax else {
            return
                "it has \(samples) channels, and a photo has at most \(Self.numbersMax): it holds measurements, not the picture "
                + "that was made of them"
        }
        guard let bits else { return "its channels have different numbers of bits" }
        let formats = numbers[Tag.sampleFormat.rawValue] ?? [1]
        guard Set(formats).count == 1 else {
            return "its channels are numbers of different kinds"
        }
        switch formats[0] {
        case 2: return "its samples are signed numbers, and nothing says which are black and white"
        case 3 where ![16, 24, 32, 64].contains(bits):
            return "its samples are floating-point numbers of \(bits) bits"
        case 5, 6: return "its samples are complex numbers"
        case 3: break
        default:
            guard bits <= 32 else { return "its samples have \(bits) bits" }
        }
        if let kind = self[.photometric], Self.unread.contains(kind) {
            return "its colours are of kind \(kind), which is no picture that is shown"
        }
        if self[.photometric] == Self.luma, !isJPEG, colours == nil {
            return "its chroma is smaller than its luma, and it is no JPEG"
        }
        if self[.photometric] == 5, colours == nil {
            return
                "its colours are \(self[.inks] ?? samples) inks that are not cyan, magenta, yellow and black"
        }
        if let colours, samples < colours.count {
            return "it has \(samples) channels, and its colours need \(colours.count)"
        }
        return nil
    }
}
