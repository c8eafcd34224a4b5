public import Edits

/// A reply of a render child: one JSON line on its standard output.
///
/// It contains no name, media type, digest or path: the worker itself knows the destination of a result. All values are checked
/// when a reply is decoded; see `RenderReply+Checking.swift`.
public struct RenderReply: Sendable, Codable {
    /// The number of the request.
    public let number: Int
    /// The content.
    public let content: Content

    /// The content of a reply.
    public enum Content: Sendable, Codable {
        /// A step of the request is complete. More lines follow.
        case progress(Progress)
        /// The header was read and the render planned.
        case inspected(Inspection)
        /// All outputs are written.
        case rendered
        /// The confinement of the child.
        case confined(Confinement)
        /// The libraries with which the child decodes and encodes.
        case libraries([LibraryVersion])
        /// The photo was refused because of its header, before a decoder opened it.
        case refused(Failure)
        /// The request failed; the contents of the outputs are invalid.
        case failed(Failure)
    }

    /// A completed step of a request that is still in progress.
    public enum Progress: Sendable, Codable, Equatable {
        /// The output with this index is written.
        case written(Int)
        /// This number of frames of a movie's part is rendered.
        case frames(Int)
        /// The video of a motion photo proved to be damaged while it was decoded, and is left out for this reason, unlike in the
        /// plan.
        case droppedMotionVideo(reason: String)

        /// Returns `droppedMotionVideo`; control characters are removed from the reason, and a long reason is cut.
        public static func dropped(_ failure: Failure) -> Progress {
            .droppedMotionVideo(reason: ReplyBounds.text(failure.message))
        }
    }

    /// Creates a reply.
    public init(to number: Int, _ content: Content) {
        self.number = number
        self.content = content
    }
}

/// A photo whose header was read and whose render was planned.
public struct Inspection: Sendable, Codable {
    /// The photo's header.
    public let header: PhotoHeader
    /// The recipe in full-size pixels, with automatic filters resolved, as the adjustment data record it.
    public let recipe: Recipe
    /// The plan of the first output of the largest size.
    public let plan: RenderPlan
    /// The plan for people, one step per line.
    public let planLines: [String]
    /// The maximum memory that the outputs need, in bytes.
    public let memoryBytes: Int

    // The protocol's own names.
    private enum CodingKeys: String, CodingKey {
        case header, recipe, plan, memoryBytes
        case planLines = "words"
    }

    /// Creates a record; the lines are those of the plan, without control characters.
    public init(header: PhotoHeader, recipe: Recipe, plan: RenderPlan, memoryBytes: Int) {
        self.header = header
        self.recipe = recipe
        self.plan = plan
        self.memoryBytes = memoryBytes
        planLines = plan.description.split(separator: "\n").prefix(ReplyBounds.planLinesMax).map {
            ReplyBounds.text(String($0))
        }
    }
}

extension Inspection {
    /// Returns the inspection for a render that had to leave out the video of a motion photo.
    public func droppingMotionVideo(_ reason: String) -> Inspection {
        Inspection(
            header: header, recipe: recipe, plan: plan.droppingMotionVideo(reason),
            memoryBytes: memoryBytes)
    }
}

/// The facts of a photo's header.
public struct PhotoHeader: Sendable, Codable, Equatable {
    /// The format of the content, whatever the file's name.
    public let format: PhotoFormat
    /// The size as stored, before orientation.
    public let storedSize: PixelSize
    /// The EXIF orientation, 1 to 8; 1 if the container itself has turned the picture.
    public let orientation: Int
    /// The number of channels, including alpha.
    public let bands: Int
    /// The bits of one sample: 8, 16 or 32.
    public let bitsPerSample: Int
    /// Whether the last channel is alpha.
    public let hasAlpha: Bool
    /// Whether an ICC profile is embedded.
    public let hasProfile: Bool
    /// The chroma subsampling of a JPEG or HEIC; nil for other formats.
    public let chroma: Recipe.Chroma?
    /// The number of rows that the decoder produces together: all rows of a picture that is compressed as a whole (a JPEG of
    /// several scans, an interlaced PNG, AVIF, WebP, JPEG XL, GIF, RAW), the height of a HEIC's or TIFF's tiles or strips,
    /// otherwise 1.
    public let rowsAtOnce: Int
    /// Whether the photo is a TIFF with uncompressed pixels.
    public let isUncompressed: Bool
    /// The identifier that the still and the video of a Live Photo share, if the photo has one.
    public let contentIdentifier: String?
    /// The facts of a movie whose poster frame is the photo; otherwise nil.
    public let movie: MovieFacts?
    /// Notes for people, such as the page of several that is read.
    public let notes: [String]

    /// Creates a header. Control characters are removed from texts, which come from the file, and long texts are cut.
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

    /// Returns the header of a copy of another size.
    public func resized(to storedSize: PixelSize) -> PhotoHeader {
        PhotoHeader(
            format: format, storedSize: storedSize, orientation: orientation, bands: bands,
            bitsPerSample: bitsPerSample, hasAlpha: hasAlpha, hasProfile: hasProfile,
            chroma: chroma, rowsAtOnce: rowsAtOnce, isUncompressed: isUncompressed,
            contentIdentifier: contentIdentifier, movie: movie,
            notes: notes)
    }

    /// Whether the decoder produces the picture as a whole.
    public var isDecodedWhole: Bool { rowsAtOnce >= storedSize.height && rowsAtOnce > 1 }

    /// The displayed size: orientations 5 to 8 swap the sides.
    public var uprightSize: PixelSize {
        orientation >= 5
            ? PixelSize(width: storedSize.height, height: storedSize.width) : storedSize
    }
}
