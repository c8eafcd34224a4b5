public import Edits

/// The parameters of a text's coverage: what a text child draws.
public struct TextRequest: Sendable, Codable, Hashable {
    /// A font and what is set of it.
    public struct Font: Sendable, Codable, Hashable {
        /// The digest of its file.
        public let digest: String
        /// The face of a collection, from 0.
        public let index: Int
        public let axes: [String: Double]

        public init(digest: String, index: Int = 0, axes: [String: Double] = [:]) {
            self.digest = digest
            self.index = index
            self.axes = axes
        }
    }

    public enum Alignment: Int, Sendable, Codable { case left, center, right }

    /// The text, with placeholders filled in.
    public let text: String
    /// The fonts; a grapheme cluster takes the first one that has all its characters.
    public let fonts: [Font]
    /// BCP 47, or nil.
    public let language: String?
    /// The size of an em, the longest line (0 for any) and the reach of a stroke, in 1/64 pixel.
    public let size: Int, maxWidth: Int, stroke: Int
    /// Degrees counter-clockwise.
    public let turn: Double
    /// The size of the rendition, into which the text is reduced to fit.
    public let within: PixelSize
    public let alignment: Alignment
    public let mayCut: Bool, maySkip: Bool

    /// Most pixels of the coverage of a text.
    public static let pixelsMax = 4_000_000
    /// Most bytes of the coverage of a text: the letters, and what a stroke surrounds.
    public static let coverageBytesMax = 2 * pixelsMax
    /// Most bytes of one font, and of all fonts of a text: collections of Chinese, Japanese and Korean have 16 to 20 MB.
    public static let fontBytesMax = 32 << 20
    public static let allFontBytesMax = 48 << 20
    /// The size of an em in 1/64 pixel: from a pixel to twice the longest side of a rendition.
    public static let sizes = 64...64 * 2 * ContractLimits.boxSideRange.upperBound

    /// Returns the request for a mark's text.
    ///
    /// - Parameters:
    ///   - text: the text with placeholders filled in.
    ///   - rendition: the size of the rendition.
    public init(_ mark: Mark, _ own: Mark.Text, text: String, in rendition: PixelSize) {
        self.text = text
        fonts = own.fonts.enumerated().map { index, digest in
            index == 0
                ? Font(digest: digest, index: own.index, axes: own.axes) : Font(digest: digest)
        }
        language = own.language
        size = min(
            max(mark.sixtyFourths(own.size, in: rendition), Self.sizes.lowerBound),
            Self.sizes.upperBound)
        maxWidth = min(mark.maxWidth(of: own, in: rendition), Self.sizes.upperBound)
        // A stroke of more than an em hides the letters.
        stroke = min(mark.stroke.map { mark.sixtyFourths($0.width, in: rendition) } ?? 0, size)
        turn = mark.turnOfContent
        within = rendition
        alignment =
            switch mark.at.x {
            case 0: .left
            case Focus.scale: .right
            default: .center
            }
        mayCut = own.overflow == .cut
        maySkip = own.missing == .skip
    }
}

extension TextRequest {
    /// The sides of a rendition in which a text is drawn: those of the longest photo.
    private static let sides = 1...1_000_000
    /// The faces of a collection.
    private static let faces = 0...Int(UInt16.max)

    /// Checks the numbers, which are narrower where the text is drawn.
    ///
    /// - Throws: `internalError`, since no worker asks for others.
    public func check() throws(Failure) {
        let lengths = 0...Self.sizes.upperBound
        guard Self.sizes.contains(size), lengths.contains(maxWidth), lengths.contains(stroke),
            Self.sides.contains(within.width), Self.sides.contains(within.height), turn.isFinite,
            fonts.allSatisfy({ Self.faces.contains($0.index) })
        else {
            throw Failure(
                .internalError,
                "A text has a size, a box or a face of a font that no worker asks for. Report this."
            )
        }
    }
}

/// The coverage of a text, as a text child reports it; its bytes are in the output.
public struct TextCoverage: Sendable, Codable, Equatable {
    /// The box of the lines in pixels before any turn, from the first line's ascent to the last one's descent.
    public let box: PixelSize
    /// The top left corner of the coverage in the turned box, and its size, which may be larger; 0 × 0 without ink.
    public let left: Int, top: Int, size: PixelSize
    /// The number of planes, each of `size.pixels` bytes in rows from the top: the letters; and, with a stroke, all that it surrounds.
    public let planes: Int
    public let isReduced: Bool, isCut: Bool, hasSkipped: Bool
    /// Whether a font asks not to be embedded (OS/2, fsType).
    public let isRestricted: Bool
    /// The libraries that drew it; nil from no child.
    public let libraries: [LibraryVersion]?

    public init(
        box: PixelSize, left: Int, top: Int, size: PixelSize, planes: Int, isReduced: Bool = false,
        isCut: Bool = false, hasSkipped: Bool = false, isRestricted: Bool = false,
        libraries: [LibraryVersion]? = nil
    ) {
        self.box = box
        (self.left, self.top) = (left, top)
        self.size = size
        self.planes = planes
        self.isReduced = isReduced
        self.isCut = isCut
        self.hasSkipped = hasSkipped
        self.isRestricted = isRestricted
        self.libraries = libraries
    }

    public var bytes: Int { size.pixels * planes }

    /// The sentences about it for people.
    public var notes: [String] {
        [
            isReduced ? "A text is reduced to fit into its rendition." : nil,
            isCut ? "A text of too many lines ends with an ellipsis." : nil,
            hasSkipped ? "Characters that no font has are left out of a text." : nil,
            isRestricted ? "A font of a text asks not to be embedded (fsType)." : nil,
        ].compactMap(\.self)
    }
}

extension TextCoverage {
    func check(_ request: TextRequest) throws(BrokenReply) {
        // A text is reduced to fit into its rendition; a rendition without a box has the photo's sides.
        let side = max(
            ContractLimits.boxSideRange.upperBound, request.within.width, request.within.height)
        let sides = 1...side
        // Outlines reach far beyond their boxes only in broken fonts.
        let places = -4 * side...4 * side
        try RenderReply.check(box.width, sides, "the width of a text")
        try RenderReply.check(box.height, sides, "the height of a text")
        try RenderReply.check(left, places, "the place of a text")
        try RenderReply.check(top, places, "the place of a text")
        let room = 0...TextRequest.pixelsMax
        try RenderReply.check(size.width, room, "the width of coverage")
        try RenderReply.check(size.height, room, "the height of coverage")
        try RenderReply.check(size.pixels, room, "the pixels of coverage")
        // The stroke of a text that is reduced may vanish.
        let hasStroke = request.stroke > 0 && !(isReduced && planes == 1)
        try RenderReply.check(libraries ?? [])
        try RenderReply.check(
            planes == (size.pixels == 0 ? 0 : hasStroke ? 2 : 1), "coverage has \(planes) planes")
    }
}

/// The coverage of a text within the file of all coverages of a request.
public struct PlacedText: Sendable, Codable, Equatable {
    public let coverage: TextCoverage
    /// Its first byte in the file.
    public let offset: Int

    public init(_ coverage: TextCoverage, offset: Int) {
        self.coverage = coverage
        self.offset = offset
    }
}
