import PhotoFiles
import Edits
import Files
import FoundationEssentials
import Library
import RenderPool
import RenderProtocol

/// The expected properties of a result. The worker checks them itself, on a copy that no child can write.
struct RenderedResult: Sendable {
    /// The planned format.
    let format: Recipe.Format
    /// Its size.
    let size: Size
    /// The limits of photos: their metadata also appear in the results.
    var limits = RenderLimits()

    /// The planned size of a result.
    enum Size: Sendable, Equatable {
        /// This size.
        case exactly(PixelSize)
        /// No side is longer than this.
        case within(Int)
        /// A copy of the photo itself, with this digest. Its header may state the size in another way.
        case copy(sha256: String, PixelSize)
    }

    /// Returns the most bytes of a result. For a picture: 16 bytes a pixel, the widest format, plus the parts
    /// around the pixels. For a movie: four times the original, whose bit rate also bounds its encoder.
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
    /// The most pixels by which a cut may grow: edges between pixels of a small copy are moved outwards, one at
    /// each end.
    private static let movedOutwards = 2

    /// Checks the header of a copied result.
    ///
    /// - Returns: the size of the result in pixels.
    /// - Throws: `untrustedRender` if the result does not match the plan.
    @discardableResult
    func check(_ file: OpenFile) throws(Failure) -> PixelSize {
        try check(FileWindow(length: file.length()) { file.bytes(from: $0, count: $1) })
    }

    /// Checks the header of a result that is in memory.
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
        // Written metadata are about as long as the photo's, or somewhat longer in another encoding.
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
            "the result of the render child \(what). It is not published; the job is retried in another child. "
                + "Keep the photo for a report.")
    }
}
