public import Adjustments

/// What a render child answers: JSON lines on its standard output.
///
/// It has no name, no media type, no digest and no path: what becomes of a result, the worker knows for itself. What is
/// in it is checked when it is read; see `RenderReply+Checking.swift`.
public struct RenderReply: Sendable, Codable {
    /// The number of the request.
    public let number: Int
    /// What is answered.
    public let content: Content

    /// What is answered.
    public enum Content: Sendable, Codable {
        /// Something of the request is done. More lines follow.
        case progress(Progress)
        /// The header was read and the render planned.
        case inspected(Inspection)
        /// All outputs are written.
        case rendered
        /// What keeps the child from doing harm.
        case confined(Confinement)
        /// The libraries that decode and encode.
        case libraries([LibraryVersion])
        /// The photo was refused for what its header says, before a decoder opened it.
        case refused(Failure)
        /// The request failed; what is in the outputs is worthless.
        case failed(Failure)
    }

    /// A step of a request that is done, while others are not.
    public enum Progress: Sendable, Codable, Equatable {
        /// The output at this place is written.
        case written(Int)
        /// So many frames of a movie's segment are.
        case frames(Int)
        /// The video of a motion photo turned out to be damaged as it was decoded, and is left out for this reason: another fate than
        /// was planned.
        case droppedMotionVideo(reason: String)

        /// The last; the reason becomes plain and is cut.
        public static func dropped(_ failure: Failure) -> Progress {
            .droppedMotionVideo(reason: ReplyBounds.text(failure.message))
        }
    }

    /// Makes a reply.
    public init(to number: Int, _ content: Content) {
        self.number = number
        self.content = content
    }
}

/// A photo whose header was read and whose render was planned.
public struct Inspection: Sendable, Codable {
    /// The photo's header.
    public let header: PhotoHeader
    /// The recipe in full-size pixels, with automatic filters resolved: what adjustment data record.
    public let recipe: Recipe
    /// How the first output of the largest size is rendered.
    public let plan: RenderPlan
    /// The plan for people, one step a line.
    public let words: [String]
    /// Memory in bytes that the outputs need at most.
    public let memoryBytes: Int

    /// Makes a record; the words are the plan's, plain.
    public init(header: PhotoHeader, recipe: Recipe, plan: RenderPlan, memoryBytes: Int) {
        self.header = header
        self.recipe = recipe
        self.plan = plan
        self.memoryBytes = memoryBytes
        words = plan.description.split(separator: "\n").prefix(ReplyBounds.wordsMax).map {
            ReplyBounds.text(String($0))
        }
    }
}

extension Inspection {
    /// The same of a render that had to leave out the video of a motion photo.
    public func droppingMotionVideo(_ reason: String) -> Inspection {
        Inspection(
            header: header, recipe: recipe, plan: plan.droppingMotionVideo(reason),
            memoryBytes: memoryBytes)
    }
}

/// What a photo's header says.
public struct PhotoHeader: Sendable, Codable, Equatable {
    /// What the content is, whatever the file's name says.
    public let format: PhotoFormat
    /// Size as stored, before orientation.
    public let storedSize: PixelSize
    /// EXIF orientation, 1 to 8; 1 where the container itself has turned the picture.
    public let orientation: Int
    /// Channels, alpha included.
    public let bands: Int
    /// Bits of one sample: 8, 16 or 32.
    public let bitsPerSample: Int
    /// Whether the last channel is alpha.
    public let hasAlpha: Bool
    /// Whether an ICC profile is embedded.
    public let hasProfile: Bool
    /// How much of the colour's detail a JPEG or HEIC has; nil for other formats.
    public let chroma: Recipe.Chroma?
    /// Rows that its decoder makes together: all of them where a picture is compressed as a whole (a JPEG of
    /// several scans, an interlaced PNG, AVIF, WebP, JPEG XL, GIF, RAW), the height of a HEIC's or TIFF's tiles or strips,
    /// else 1.
    public let rowsAtOnce: Int
    /// Whether it is a TIFF whose pixels stand in the file as they are.
    public let isUncompressed: Bool
    /// What the still and the video of a Live Photo have in common, when the photo has it.
    public let contentIdentifier: String?
    /// Of a movie, whose poster's frame is the photo; else nil.
    public let movie: MovieFacts?
    /// What a person should know, such as which page of several is read.
    public let notes: [String]

    /// Makes a header; texts, which come from the file, become plain and are cut.
    public init(
        format: PhotoFormat, storedSize: PixelSize, orientation: Int, bands: Int,
        bitsPerSample: Int, hasAlpha: Bool, hasProfile: Bool, chroma: Recipe.Chroma? = nil,
        rowsAtOnce: Int = 1, isUncompressed: Bool = false, contentIdentifier: String? = nil,
        movie: MovieFacts? = nil, notes: [String] = []
    ) {
        self.format = format
        self.storedSize = storedSize
        self.orientation = orientation
        self.bands = bands
        self.bitsPerSample = bitsPerSample
        self.hasAlpha = hasAlpha
        self.hasProfile = hasProfile
        self.chroma = chroma
        self.rowsAtOnce = rowsAtOnce
        self.isUncompressed = isUncompressed
        self.contentIdentifier = contentIdentifier.map(ReplyBounds.text)
        self.movie = movie
        self.notes = notes.prefix(ReplyBounds.notesMax).map(ReplyBounds.text)
    }

    /// The header of a copy of another size.
    public func resized(to storedSize: PixelSize) -> PhotoHeader {
        PhotoHeader(
            format: format, storedSize: storedSize, orientation: orientation, bands: bands,
            bitsPerSample: bitsPerSample, hasAlpha: hasAlpha, hasProfile: hasProfile,
            chroma: chroma, rowsAtOnce: rowsAtOnce, isUncompressed: isUncompressed,
            contentIdentifier: contentIdentifier, movie: movie,
            notes: notes)
    }

    /// Whether its decoder makes the picture as a whole.
    public var isDecodedWhole: Bool { rowsAtOnce >= storedSize.height && rowsAtOnce > 1 }

    /// Size as a person sees it: orientations 5 to 8 swap the sides.
    public var uprightSize: PixelSize {
        orientation >= 5
            ? PixelSize(width: storedSize.height, height: storedSize.width) : storedSize
    }
}
