public import Edits
public import FoundationEssentials

/// A reply of a render child: one JSON line on its standard output.
///
/// It contains no name, media type, digest or path: the worker itself knows the destination of a result. All values are checked
/// when a reply is decoded; see `RenderReply.swift`.
public struct RenderReply: Sendable, Codable {
    public let number: Int
    public let content: Content

    public enum Content: Sendable, Codable {
        /// A step of the request is complete. More lines follow.
        case progress(Progress)
        /// The header was read and the render planned.
        case inspected(Inspection)
        /// All outputs are written, by a child with these libraries; nil if no bytes of a photo were made.
        case rendered(by: [LibraryVersion]? = nil)
        case confined(Confinement)
        /// The libraries with which the child decodes and encodes.
        case libraries([LibraryVersion])
        /// The coverage of a text is in the output.
        case drawn(TextCoverage)
        /// The photo was refused because of its header, before a decoder opened it.
        case refused(Failure)
        /// The request failed; the contents of the outputs are invalid.
        case failed(Failure)
    }

    /// A completed step of a request that is still in progress.
    public enum Progress: Sendable, Codable, Equatable {
        /// The output with this index is written, which is no rendition.
        case written(Int)
        /// The rendition with this index among the outputs is written.
        case made(Int, RenditionResult)
        /// The rendition with this index, which is not required, could not be made. Its output is invalid.
        case missed(Int, Failure)
        /// This number of frames of a movie's part is rendered.
        case frames(Int)
        /// The video of a motion photo proved to be damaged while it was decoded, and is left out for this reason, unlike in the
        /// plan.
        case droppedMotionVideo(reason: String)

        /// Returns `droppedMotionVideo`; control characters are removed from the reason, and a long reason is cut.
        public static func dropped(_ failure: Failure) -> Progress {
            .droppedMotionVideo(reason: ReplyBounds.text(failure.message))
        }

        /// The index of the output that it is about, and that gets no other; nil for other steps.
        public var output: Int? {
            switch self {
            case .written(let index), .made(let index, _), .missed(let index, _): index
            case .frames, .droppedMotionVideo: nil
            }
        }
    }

    /// Creates a reply. Control characters are removed from the sentences of failures, which quote files.
    public init(to number: Int, _ content: Content) {
        self.number = number
        self.content =
            switch content {
            case .failed(let failure): .failed(failure.printable)
            case .refused(let failure): .refused(failure.printable)
            case .progress(.missed(let index, let failure)):
                .progress(.missed(index, failure.printable))
            default: content
            }
    }
}

/// A photo whose header was read and whose render was planned.
public struct Inspection: Sendable, Codable {
    public let header: PhotoHeader
    /// The recipe in full-size pixels, with automatic filters resolved, as the adjustment data record it.
    public let recipe: Recipe
    /// The plan of the first output of the largest size.
    public let plan: RenderPlan
    /// The plan for people, one step per line.
    public let planLines: [String]
    /// The maximum memory that the outputs need, in bytes.
    public let memoryBytes: Int
    /// The texts of the photo's metadata; nil unless the request asks.
    public let texts: PhotoTexts?

    // The protocol's own names.
    private enum CodingKeys: String, CodingKey {
        case header, recipe, plan, memoryBytes, texts
        case planLines = "words"
    }

    /// Creates a record; the lines are those of the plan, without control characters.
    public init(
        header: PhotoHeader, recipe: Recipe, plan: RenderPlan, memoryBytes: Int,
        texts: PhotoTexts? = nil
    ) {
        self.texts = texts
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
            memoryBytes: memoryBytes, texts: texts)
    }
}

/// The facts of a photo's header.
public struct PhotoHeader: Sendable, Codable, Equatable {
    /// The format of the content, whatever the file's name.
    public let format: PhotoFormat
    /// The size as stored, before orientation.
    public var storedSize: PixelSize
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
    /// True of a TIFF whose strips or tiles the decoder holds whole, however many rows they have; nil of all else.
    public let hasWholeBlocks: Bool?
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
        rowsAtOnce: Int = 1, isUncompressed: Bool = false, hasWholeBlocks: Bool = false,
        contentIdentifier: String? = nil,
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
        self.hasWholeBlocks = hasWholeBlocks ? true : nil
        self.contentIdentifier = contentIdentifier.map(ReplyBounds.text)
        self.movie = movie
        self.notes = notes.prefix(ReplyBounds.notesMax).map(ReplyBounds.text)
    }

    /// Returns the header of a copy of another size.
    public func resized(to storedSize: PixelSize) -> PhotoHeader {
        var header = self
        header.storedSize = storedSize
        return header
    }

    /// Whether the decoder produces the picture as a whole.
    public var isDecodedWhole: Bool { rowsAtOnce >= storedSize.height && rowsAtOnce > 1 }

    /// The displayed size: orientations 5 to 8 swap the sides.
    public var uprightSize: PixelSize {
        orientation >= 5
            ? PixelSize(width: storedSize.height, height: storedSize.width) : storedSize
    }
}

extension RenderReply {
    /// Decodes a line and checks all its values against their ranges.
    ///
    /// - Parameter request: The request that the reply belongs to.
    /// - Throws: ``BrokenReply``.
    public init(_ line: Data, to request: RenderRequest) throws(BrokenReply) {
        do {
            self = try LineFormat.decode(RenderReply.self, from: line)
        } catch {
            // The decoder's error is left out, because it quotes the line.
            throw BrokenReply("a line is no reply of version \(RenderRequest.version)")
        }
        guard number == request.number else {
            throw BrokenReply("a reply is to another request than the one that was sent")
        }
        try check(request)
    }

    private func check(_ request: RenderRequest) throws(BrokenReply) {
        switch (content, request.work) {
        case (.progress(.written(let index)), .render(let photo)):
            let rendition = try Self.output(index, of: photo).rendition
            try Self.check(rendition == nil, "a rendition is written without its result")
        case (.progress(.made(let index, let result)), .render(let photo)):
            guard let rendition = try Self.output(index, of: photo).rendition else {
                throw BrokenReply("a result is of an output that is no rendition")
            }
            try result.check(rendition)
        case (.progress(.missed(let index, let failure)), .render(let photo)):
            let rendition = try Self.output(index, of: photo).rendition
            try Self.check(rendition?.isRequired == false, "a rendition that is required is missed")
            try Self.check(failure)
        case (.progress(.frames(let done)), .render(let photo)):
            try Self.check(
                done, 1...max(1, photo.limits.movieFramesMax), "the frames that are done")
        case (.progress(.droppedMotionVideo(let reason)), .render):
            try Self.check([reason], "reasons")
        case (.inspected(let inspection), .inspect(let photo)):
            try inspection.check(photo)
        case (.rendered(let libraries), .render), (.rendered(let libraries), .contactSheet),
            (.rendered(let libraries), .tryFormat):
            try Self.check(libraries ?? [])
        case (.confined(let confinement), .confinement): try confinement.check()
        case (.libraries(let libraries), .libraries): try Self.check(libraries)
        case (.drawn(let coverage), .text(let text)): try coverage.check(text)
        case (.failed(let failure), _), (.refused(let failure), .inspect),
            (.refused(let failure), .render):
            try Self.check(failure)
        case (.progress, _), (.inspected, _), (.rendered, _), (.confined, _),
            (.libraries, _), (.drawn, _), (.refused, _):
            throw BrokenReply("a reply answers another question than it was asked")
        }
    }

    private static func output(
        _ index: Int, of photo: PhotoRequest
    ) throws(BrokenReply) -> PhotoRequest.Output {
        try check(index, 0...max(0, photo.outputs.count - 1), "the output of a progress")
        return photo.outputs[index]
    }

    /// Checks a failure, whose message quotes a decoder's error about the file, whose contents are untrusted.
    private static func check(_ failure: Failure) throws(BrokenReply) {
        try check(failure.message.count, 0...Failure.messageLengthMax, "the length of a sentence")
        try check(!failure.message.hasControls, "a sentence has control characters")
        try check(failure.signal == nil, "a failure names a signal")
        try check(
            failure.code.isFoundByRender,
            "a failure is of a code that no render has: \(failure.code.rawValue)")
    }

    static func check(_ libraries: [LibraryVersion]) throws(BrokenReply) {
        try check(
            libraries.map(\.name) + libraries.map(\.version), "names and versions of libraries",
            most: 2 * ReplyBounds.librariesMax)
    }

    static func check<Value: Comparable>(
        _ value: Value, _ range: ClosedRange<Value>, _ what: String
    ) throws(BrokenReply) {
        guard range.contains(value) else {
            throw BrokenReply(
                "\(what) is \(value); expected is \(range.lowerBound) to \(range.upperBound)")
        }
    }

    static func check(_ isTrue: Bool, _ what: String) throws(BrokenReply) {
        guard isTrue else { throw BrokenReply(what) }
    }

    static func check(
        _ texts: [String], _ what: String, most: Int = ReplyBounds.notesMax
    ) throws(BrokenReply) {
        try check(texts.count, 0...most, "the number of \(what)")
        for text in texts {
            try check(text.count, 0...ReplyBounds.textMax, "the length of one of the \(what)")
            try check(!text.hasControls, "one of the \(what) has control characters")
        }
    }

    static func check(_ size: PixelSize, _ what: String) throws(BrokenReply) {
        try check(size.width, ReplyBounds.sides, "the width of \(what)")
        try check(size.height, ReplyBounds.sides, "the height of \(what)")
    }
}

extension RenditionResult {
    /// The worker compares the size with that which follows from the photo's.
    fileprivate func check(_ rendition: Rendition) throws(BrokenReply) {
        try RenderReply.check(PixelSize(width: width, height: height), "a rendition")
        try RenderReply.check(
            (quality != nil) == rendition.output.format?.isLossy,
            "a rendition has a quality and its format none, or the other way round")
        try RenderReply.check(quality ?? 0, 0...1, "a quality")
        try RenderReply.check(
            encodes, 1...(rendition.target == nil ? 1 : ReplyBounds.encodesMax),
            "the times that a rendition was encoded")
        try RenderReply.check(
            Set(hash?.keys ?? [:].keys) == Set(rendition.hashes.map(\.rawValue)),
            "a rendition has other hashes than it was asked for")
        try RenderReply.check(Array(hash?.values ?? [:].values), "hashes")
    }
}

extension Inspection {
    fileprivate func check(_ photo: PhotoRequest) throws(BrokenReply) {
        try header.check(photo.limits)
        try plan.check(photo.limits)
        try RenderReply.check(memoryBytes, ReplyBounds.bytes, "the memory of a render")
        try RenderReply.check(planLines, "lines of a plan", most: ReplyBounds.planLinesMax)
        try RenderReply.check(!recipe.isAutomatic, "a recipe has automatic filters still")
        try checkRecipe(photo.recipe, photo.pictures)
        try RenderReply.check(
            (texts != nil) == (photo.readsTexts ?? false),
            "the texts of a photo are there, or missing, unlike what was asked")
        try texts?.check()
    }

    /// Checks the recipe, which becomes the photo's adjustment data. Except for automatic filters, it follows from the request.
    private func checkRecipe(
        _ asked: Recipe, _ pictures: [String: PixelSize]
    ) throws(BrokenReply) {
        let expected: Recipe
        do throws(Failure) {
            expected = try asked.resolved(for: header.uprightSize, pictures: pictures)
        } catch {
            throw BrokenReply("a photo has a size to which its recipe cannot be scaled")
        }
        let isSame =
            asked.isAutomatic
            ? recipe.output == expected.output && recipe.referenceSize == nil
            : recipe.json.canonical == expected.json.canonical
        try RenderReply.check(isSame, "a recipe is another one than was asked for")
    }
}

extension PhotoTexts {
    /// Checks texts that come from the file, which is untrusted: they are filled into metadata and marks.
    fileprivate func check() throws(BrokenReply) {
        try RenderReply.check(creator.count, 0...Self.creatorsMax, "the number of creators")
        for text in all {
            try RenderReply.check(
                text.utf8.count, 0...Self.bytesMax, "the bytes of a text of a photo")
            try RenderReply.check(text.count, 0...Self.lengthMax, "the length of a photo's text")
            try RenderReply.check(
                text.isStreamSafe, "a text of a photo has too many combining marks")
            try RenderReply.check(
                !text.unicodeScalars.contains {
                    $0 != "\n" && $0 != "\t" && $0.isControl && !$0.isFormat
                },
                "a text of a photo has control characters")
        }
        try RenderReply.check(date?.isValid ?? true, "the date of a photo is none")
    }
}

extension PhotoHeader {
    fileprivate func check(_ limits: RenderLimits) throws(BrokenReply) {
        try RenderReply.check(storedSize, "a photo")
        try RenderReply.check(storedSize.pixels, 1...max(1, limits.pixelsMax), "a photo's pixels")
        try RenderReply.check(orientation, 1...8, "an orientation")
        try RenderReply.check(bands, ReplyBounds.bands, "the number of channels")
        try RenderReply.check(bitsPerSample, ReplyBounds.bits, "the bits of a sample")
        try RenderReply.check(rowsAtOnce, ReplyBounds.sides, "the rows that are decoded together")
        try RenderReply.check([contentIdentifier].compactMap(\.self), "content identifiers")
        try movie?.check(limits)
        try RenderReply.check(notes, "notes")
    }
}

extension MovieFacts {
    fileprivate func check(_ limits: RenderLimits) throws(BrokenReply) {
        try RenderReply.check(container.isMovie, "a movie is a \(container.rawValue)")
        try RenderReply.check([codec], "codecs")
        try RenderReply.check(frames, 1...max(1, limits.movieFramesMax), "the frames of a movie")
        try RenderReply.check(
            seconds, 0...Double(max(1, limits.movieSecondsMax) + 1), "the seconds of a movie")
        try RenderReply.check(segments, 1...frames, "the segments of a movie")
    }
}

extension MoviePlan {
    fileprivate func check(_ limits: RenderLimits) throws(BrokenReply) {
        try RenderReply.check(frames, 1...max(1, limits.movieFramesMax), "the frames of a movie")
        try RenderReply.check(
            segments, 1...ReplyBounds.segmentsMax, "the segments of a movie")
        try segment.check()
    }
}

extension RenderEstimate {
    fileprivate func check() throws(BrokenReply) {
        try RenderReply.check(memoryBytes, ReplyBounds.bytes, "the memory of a render")
        try RenderReply.check(spoolBytes, ReplyBounds.bytes, "the spool of a render")
        try RenderReply.check(cpuSeconds, ReplyBounds.seconds, "the processor time of a render")
    }
}

extension RenderPlan {
    fileprivate func check(_ limits: RenderLimits) throws(BrokenReply) {
        try RenderReply.check(resultSize, "a result")
        try RenderReply.check(
            resultSize.pixels, 1...max(1, limits.pixelsMax), "the pixels of a result")
        try RenderReply.check(orientation, 1...8, "an orientation")
        try RenderReply.check(passes.count, 0...ReplyBounds.passesMax, "the number of passes")
        for pass in passes {
            guard case .neighbourhood(_, let columns, let rows) = pass else { continue }
            try RenderReply.check(columns, ReplyBounds.reach, "the reach of a filter")
            try RenderReply.check(rows, ReplyBounds.reach, "the reach of a filter")
        }
        try RenderReply.check(output.quality, 0...1, "a quality")
        try RenderReply.check(threads, ReplyBounds.threads, "the number of threads")
        try estimate.check()
        try movie?.check(limits)
        try RenderReply.check(
            [gainMap?.reason, motionVideo?.reason].compactMap(\.self), "reasons")
        try RenderReply.check(
            leftOut?.count ?? 0, 0...Companion.allCases.count, "the number of things left out")
        try RenderReply.check(notes, "notes")
        try RenderReply.check(
            output.written ?? [], "fields", most: MetadataChanges.Field.allCases.count)
    }
}

extension Confinement {
    fileprivate func check() throws(BrokenReply) {
        try RenderReply.check(gaps.count, 0...ReplyBounds.gapsMax, "the number of gaps")
        for gap in gaps {
            try RenderReply.check(
                gap.reason.count, 0...ReplyBounds.textMax, "the length of a reason")
            try RenderReply.check(!gap.reason.hasControls, "a reason has control characters")
        }
    }
}

/// The permitted ranges of all values in a reply of a render child. A photo cannot cause a value outside them: the child is faulty
/// or compromised.
public enum ReplyBounds {
    /// The maximum length of a text, in characters.
    public static let textMax = 1000
    /// Returns a text that quotes a file or the kernel in the form permitted in a reply.
    static func text(_ text: String) -> String { String(text.printable.prefix(textMax)) }
    /// The maximum number of notes for people.
    public static let notesMax = 32
    /// The maximum number of lines that describe a plan.
    public static let planLinesMax = passesMax + notesMax + 10
    /// The sides of a picture in pixels: no supported format has more.
    static let sides = 1...Int(Int32.max)
    /// The channels of a picture.
    public static let bands = 1...64
    public static let bits = 1...64
    /// The bytes of memory and of spool files: no machine has more.
    static let bytes = 0...(1 << 50)
    /// The processor time in seconds: a year.
    static let seconds = 0.0...31_536_000.0
    static let threads = 1...1024
    /// The maximum number of passes over a photo: two per filter.
    static let passesMax = 4096
    /// The columns and rows around a pixel that a filter reads.
    static let reach = 0...Int(Int32.max)
    /// The maximum number of confinement measures that are not in force.
    static let gapsMax = 64
    /// The maximum number of libraries that a child reports.
    static let librariesMax = 64
    /// The maximum number of parts of a movie: each is an open file of a request, of which a child may have 160.
    public static let segmentsMax = 100
    /// The most times that a rendition is encoded: a search of eight and the best one again for each of three sizes, and a search
    /// for a likeness before them.
    public static let encodesMax = 36
    /// The maximum number of progress reports about the frames of a part.
    public static let frameReportsMax = 100
    /// The maximum number of progress lines before the final reply.
    public static let progressMax = PhotoRequest.outputsMax + frameReportsMax + 1
}

/// The error of a reply that violates the protocol: its child is no longer trusted.
public struct BrokenReply: Error, Equatable, CustomStringConvertible {
    /// The violated rule, for people.
    public let description: String

    public init(_ description: String) { self.description = description }
}

extension Failure {
    /// The failure with a sentence of one printable line.
    fileprivate var printable: Failure {
        message.hasControls ? Failure(code, message.printable, signal: signal) : self
    }
}
