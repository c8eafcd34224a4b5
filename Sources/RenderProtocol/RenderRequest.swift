public import Adjustments

/// What the worker asks of a render child: one JSON line over its socket, with the open files that it needs.
///
/// A child answers with lines of ``RenderReply`` on standard output: any number of `progress`, then one other. It works
/// on one request at a time.
public struct RenderRequest: Sendable, Codable {
    /// The version of this protocol. Version 1 handed paths over.
    public static let version = 2

    /// The version that the worker speaks.
    public let version: Int
    /// Repeated in each reply, so that an answer to another request is not taken for one to this; random.
    public let number: Int
    /// What is asked.
    public let work: Work
    /// What the files are for, in the order in which they come along; see ``RenderFiles``.
    public let files: [RenderFiles.Role]

    /// What is asked.
    public enum Work: Sendable, Codable {
        /// Read a photo's header and plan its render; no pixels, but for an automatic filter. Answer: `inspected`.
        case inspect(PhotoRequest)
        /// Render a photo into the outputs, in their order. Answer: `progress` after each, then `rendered`.
        case render(PhotoRequest)
        /// Draw small pictures side by side into the one output. Answer: `rendered`.
        case contactSheet(ContactSheetRequest)
        /// Say what keeps you from doing harm. Answer: `confined`.
        case confinement
        /// Write a small picture in a format and read it back. The first output is the place for the picture, the second for
        /// what is written, the third for what is read of it. Answer: `rendered`, or `failed` with the reason.
        case tryFormat(Recipe.Format)
        /// Say which libraries you are made of. Answer: `libraries`.
        case libraries
    }

    /// Numbers of requests: exact in JSON, wherever it is read.
    public static let numbers = 1...(1 << 53)

    /// Makes a request.
    ///
    /// - Parameter number: one of its own unless given.
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

/// How one photo is to be rendered.
public struct PhotoRequest: Sendable, Codable {
    /// The edit, as it was sent: the child scales it to the photo's size.
    public let recipe: Recipe
    /// What is refused.
    public let limits: RenderLimits
    /// What is made of it, in this order.
    public let outputs: [Output]
    /// Memory that the render may need in bytes: a plan that needs more takes a way that needs less, or is
    /// refused with `exceedsMemoryBudget`. Nil for no bound.
    public let memoryMax: Int?
    /// Threads that may compute pixels, where memory allows it: no byte of the result hangs on them. Nil: as the child was
    /// started.
    public let threads: Int?
    /// The mark that the halves of a Live Photo share from now on, in place of one that is as long; nil: as before.
    public let contentIdentifier: String?

    /// One picture that is made of a photo.
    public struct Output: Sendable, Codable, Equatable {
        /// Longest side in pixels, or nil for full size: a small picture is made of a small copy, and lengths shrink
        /// with it.
        public let longestSide: Int?
        /// How it is written; nil: as the recipe says.
        public let format: Recipe.Output?
        /// Which part of a movie it is, from 0; nil for a whole one, which is joined from the files of its parts.
        public let segment: Int?

        /// Makes an output.
        public init(
            longestSide: Int? = nil, format: Recipe.Output? = nil, segment: Int? = nil
        ) {
            self.longestSide = longestSide
            self.format = format
            self.segment = segment
        }

        /// The photo at full size, as the recipe says.
        public static let full = Output()
    }

    /// Threads that can be asked for.
    public static let threadsRange = 1...64
    /// Longest side of a small picture that can be asked for, in pixels.
    public static let longestSideRange = 16...16_384
    /// Most pictures of one request: the photo, a placeholder, and the previews that a recipe may ask for.
    public static let outputsMax = 32

    /// Makes a request.
    public init(
        recipe: Recipe, limits: RenderLimits, outputs: [Output] = [.full], memoryMax: Int? = nil,
        threads: Int? = nil, contentIdentifier: String? = nil
    ) {
        self.recipe = recipe
        self.limits = limits
        self.outputs = outputs
        self.memoryMax = memoryMax
        self.threads = threads
        self.contentIdentifier = contentIdentifier
    }
}
