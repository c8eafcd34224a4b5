public import Edits
public import FoundationEssentials

/// A request of the worker to a render child: one JSON line over its socket, with the open files that it needs.
///
/// A child replies with lines of ``RenderReply`` on standard output: any number of `progress`, then one other. It executes one
/// request at a time.
public struct RenderRequest: Sendable, Codable {
    /// The version of this protocol. A field that requests must have raises it: a child of an earlier release refuses the version with
    /// a sentence, and not the first request with a decoding error. Version 1 passed paths; version 3 has the sizes of the edit's
    /// pictures and the texts of outputs.
    public static let version = 3

    /// The version that the worker uses.
    public let version: Int
    /// A random number that each reply repeats, so that a reply to another request is detected.
    public let number: Int
    public let work: Work
    /// The purposes of the files, in the order in which they are passed; see ``RenderFiles``.
    public let files: [RenderFiles.Role]

    public enum Work: Sendable, Codable {
        /// Reads a photo's header and plans its render, without pixels except for an automatic filter. Reply: `inspected`.
        case inspect(PhotoRequest)
        /// Renders a photo into the outputs, in their order. Reply: `progress` after each, then `rendered`.
        case render(PhotoRequest)
        /// Draws small pictures side by side into the single output. Reply: `rendered`.
        case contactSheet(ContactSheetRequest)
        /// Reports the confinement of the child. Reply: `confined`.
        case confinement
        /// Writes a small picture in a format and reads it back, with the usual bits of a sample or these. The first output is for
        /// the picture, the second for the encoded file, the third for the decoded pixels. Reply: `rendered`, or `failed` with the
        /// reason.
        case tryFormat(Recipe.Format, Recipe.BitDepth? = nil)
        /// Reports the libraries of the child. Reply: `libraries`.
        case libraries
        /// Draws a text as coverage into the single output; only a text child does. Reply: `drawn`.
        case text(TextRequest)
    }

    /// The range of request numbers: exact in any JSON decoder.
    public static let numbers = 1...(1 << 53)

    /// Creates a request.
    ///
    /// - Parameter number: The number; random by default.
    public init(
        _ work: Work, files: [RenderFiles.Role] = [],
        number: Int = .random(in: Self.numbers)
    ) {
        version = Self.version
        self.number = number
        self.work = work
        self.files = files
    }
}

/// The parameters of one photo's render.
public struct PhotoRequest: Sendable, Codable {
    /// The edit, as the producer sent it; the child scales it to the photo's size.
    public var recipe: Recipe
    /// The limits beyond which a photo is refused.
    public let limits: RenderLimits
    /// The upright sizes of the pictures on which steps of the edit depend, by digest, as the worker found them. The child compares
    /// them with the files.
    public var pictures: [String: PixelSize]
    /// The results, in this order.
    public var outputs: [Output]
    /// The maximum memory of the render in bytes. A plan that needs more uses a more restricted way, or is refused with
    /// `exceedsMemoryBudget`. Nil for no limit.
    public let memoryMax: Int?
    /// The number of threads that may compute pixels, if memory allows it; no byte of the result depends on it. Nil for the number
    /// with which the child was started.
    public var threads: Int?
    /// Whether the reply to an inspection tells what the photo's metadata say of it; nil for no.
    public var readsTexts: Bool?
    /// The new identifier that the halves of a Live Photo share, of the same length as the old one; nil to keep the old one.
    public var contentIdentifier: String?

    /// One picture that is made from a photo.
    public struct Output: Sendable, Codable, Equatable {
        /// The longest side in pixels, or nil for full size. A small picture is made from a small copy, and all lengths are
        /// scaled with it.
        public let longestSide: Int?
        /// The output parameters; nil for those of the recipe.
        public let format: Recipe.Output?
        /// The rendition to make of the edited picture; nil for the picture itself, or a small copy of it.
        public let rendition: Rendition?
        /// The rendition's name, for messages; nil for a preview.
        public let name: String?
        /// The coverage of the rendition's marks that are texts, in their order.
        public var texts: [PlacedText]
        /// The index of a movie's part, from 0; nil for a whole movie, which is joined from the files of its parts.
        public let segment: Int?

        public init(
            longestSide: Int? = nil, format: Recipe.Output? = nil, rendition: Rendition? = nil,
            name: String? = nil, texts: [PlacedText] = [], segment: Int? = nil
        ) {
            self.longestSide = longestSide
            self.format = format
            self.rendition = rendition
            self.name = name
            self.texts = texts
            self.segment = segment
        }

        /// The photo at full size, with the parameters of the recipe.
        public static let full = Output()

        /// Whether it is the edited photo, or a part of a movie, and nothing smaller.
        public var isFull: Bool { longestSide == nil && rendition == nil }
    }

    /// The permitted numbers of threads.
    public static let threadsRange = 1...64
    /// The permitted longest sides of a small picture, in pixels.
    public static let longestSideRange = 16...16_384
    /// The maximum number of pictures of one request: the photo, a placeholder, and the previews that a recipe may request.
    public static let outputsMax = 32

    public init(
        recipe: Recipe, limits: RenderLimits, pictures: [String: PixelSize] = [:],
        outputs: [Output] = [.full], memoryMax: Int? = nil,
        threads: Int? = nil, contentIdentifier: String? = nil
    ) {
        self.recipe = recipe
        self.pictures = pictures
        self.limits = limits
        self.outputs = outputs
        self.memoryMax = memoryMax
        self.threads = threads
        self.contentIdentifier = contentIdentifier
    }
}

extension PhotoRequest {
    private var written: [Recipe.Output] {
        [recipe.output] + outputs.compactMap(\.format)
            + outputs.compactMap { $0.rendition?.output }
    }

    /// Whether no text of metadata has a placeholder still.
    public var isFilled: Bool { written.allSatisfy { $0.metadata?.isFilled ?? true } }

    /// Whether the photo's metadata are needed for the plan or the reply.
    public var readsMetadata: Bool {
        readsTexts ?? false || written.contains(where: \.writesMetadata)
    }
}

/// The request for a contact sheet: small pictures side by side.
public struct ContactSheetRequest: Sendable, Codable {
    public struct Cell: Sendable, Codable {
        /// The index of the photo among the request's sources.
        public let source: Int
        /// The edit to show, or nil for the photo as it is.
        public let recipe: Recipe?
        /// The text below the picture, or nil.
        public let label: String?

        public init(source: Int, recipe: Recipe? = nil, label: String? = nil) {
            self.source = source
            self.recipe = recipe
            self.label = label
        }
    }

    /// The pictures, in reading order; 1 to ``cellsMax``. Consecutive pictures of one photo are made from one small copy.
    public let cells: [Cell]
    /// The number of pictures in a row.
    public let across: Int
    /// The longest side of a picture, in pixels.
    public let cellSide: Int
    /// The limits beyond which photos are refused.
    public let limits: RenderLimits

    /// The maximum number of pictures of one sheet.
    public static let cellsMax = 128
    /// The maximum number of photos of one sheet: each is an open file.
    public static let sourcesMax = 64
    /// The permitted longest sides of a picture, in pixels.
    public static let cellSideRange = 32...1024

    public init(
        cells: [Cell], across: Int, cellSide: Int, limits: RenderLimits = RenderLimits()
    ) {
        self.cells = cells
        self.across = across
        self.cellSide = cellSide
        self.limits = limits
    }
}

/// The encoding of requests and replies, each as one line.
public enum LineFormat {
    /// The maximum length of a line in bytes; both sides refuse a longer one.
    public static let lineBytesMax = 1 << 20

    /// Encodes a message as one line of JSON, with the newline at its end.
    public static func encode(_ message: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var line = try encoder.encode(message)
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// Decodes one line, with or without its newline.
    public static func decode<Message: Decodable>(_ type: Message.Type, from line: Data) throws
        -> Message
    {
        try JSONDecoder().decode(type, from: line)
    }
}
