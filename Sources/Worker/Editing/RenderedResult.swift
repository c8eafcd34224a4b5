import Boxes
import Adjustments
import Files
import FoundationEssentials
import Headers
import Library
import RenderProtocol

/// What a result has to be; the worker looks for itself, at a copy that no child can reach.
struct RenderedResult: Sendable {
    /// The format that was planned.
    let format: Recipe.Format
    /// Its size.
    let size: Size
    /// Of photos: their metadata are the results' too.
    var limits = RenderLimits()

    /// What was planned of a result's size.
    enum Size: Sendable, Equatable {
        /// This size.
        case exactly(PixelSize)
        /// No side is longer.
        case within(Int)
        /// The photo itself, of this digest; its header says its size in its own way.
        case copy(sha256: String, PixelSize)
    }

    /// Most bytes of a result: sixteen a pixel, the widest format, and what stands around the pixels; of a movie four times
    /// the original, whose rate its encoder is bounded by.
    func bytesMax(source: Int) -> Int {
        switch size {
        case .exactly where format.isMovie: Self.movieFactor * source + Self.reserve
        case .exactly(let size): 16 * size.pixels + source + Self.reserve
        case .within(let side): 16 * side * side + Self.reserve
        case .copy: source
        }
    }

    private static let movieFactor = 4
    private static let reserve = 64 << 20
    /// Edges of a cut that lie between pixels of a small copy are moved outwards, one at each end.
    private static let movedOutwards = 2

    /// Reads the header of a copied result.
    ///
    /// - Returns: its size in pixels.
    /// - Throws: `untrustedRender` when it is not what it has to be.
    @discardableResult
    func check(_ file: OpenFile) throws(Failure) -> PixelSize {
        try check(FileWindow(length: file.length()) { file.bytes(from: $0, count: $1) })
    }

    /// The same for bytes that are in memory.
    @discardableResult
    func check(_ bytes: [UInt8]) throws(Failure) -> PixelSize {
        try check(
            FileWindow(length: bytes.count) { offset, count in
                Array(bytes.dropFirst(offset).prefix(count))
            })
    }

    private func check(_ bytes: FileWindow) throws(Failure) -> PixelSize {
        let found = PhotoFormat(sniffing: bytes.head(of: PhotoFormat.sniffedBytes))
        guard found == PhotoFormat(format) else {
            throw Self.refusal(
                "is no \(format.rawValue) but \(found?.rawValue ?? "nothing that is known")")
        }
        var room = limits
        // What is written is as much, or a little more where it is written in another way.
        room.metadataMax *= 2
        room.profileMax *= 2
        let survey = PhotoSurvey(PhotoFormat(format), bytes, limits: room)
        guard let size = survey.size else { throw Self.refusal("has no size in its header") }
        switch self.size {
        case .exactly(let planned) where size != planned:
            throw Self.refusal("is \(size) pixels where \(planned) were planned")
        case .within(let side) where max(size.width, size.height) > side + Self.movedOutwards:
            throw Self.refusal("is \(size) pixels where at most \(side) were asked for")
        case .exactly, .within, .copy: return size
        }
    }

    static func refusal(_ what: String) -> Failure {
        Failure(
            .untrustedRender,
            "the result of the render child \(what). It is not published; the job is tried again by another child. "
                + "Keep the photo for a report.")
    }
}

extension PhotoFormat {
    /// The format that a result of an output format is read as.
    init(_ format: Recipe.Format) {
        self =
            switch format {
            case .jpeg: .jpeg
            case .png: .png
            case .tiff: .tiff
            case .webp: .webp
            case .heic, .avif: .heif
            case .jxl: .jxl
            case .mov, .mp4: .movie
            }
    }
}
