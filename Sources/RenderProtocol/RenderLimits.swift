public import Adjustments

/// What a child refuses by a photo's header, before a decoder sees the file.
///
/// Pixels have a code of their own, `tooManyPixels`; all else is `exceedsLimit`, with the name of the
/// limit in its sentence.
public struct RenderLimits: Sendable, Codable, Equatable {
    /// Most pixels of a photo, width × height: `render.pixels`.
    public var pixelsMax: Int
    /// Most bytes of a file. Offsets of a classic TIFF end here (TIFF 6.0 §2).
    public var bytesMax = 4 << 30
    /// Most frames of an animation, of which the first is rendered; libvips looks at all of them when
    /// it opens a GIF. Two minutes at 30 a second.
    public var framesMax = 3_600
    /// Most directories of a TIFF; libtiff reads all of them when libvips opens one.
    public var pagesMax = 1_000
    /// Most scans of a JPEG, each of which costs a pass over all coefficients. That of libjpeg-turbo's
    /// own tools (`TJFLAG_LIMITSCANS`, turbojpeg.c).
    public var scansMax = 500
    /// Most bytes of an ICC profile, inflated. That of libpng for any chunk (`PNG_USER_CHUNK_MALLOC_MAX`).
    public var profileMax = 8_000_000
    /// Most bytes of all other metadata, inflated. Profiles of presses, XMP with depth maps, and the
    /// layers of small TIFFs stay below.
    public var metadataMax = 16 << 20
    /// Most pixels of a photo of more than ``densePixelsMin`` for each byte of its file. DEFLATE gets
    /// no further than 1032 bytes to one (zlib's technical details), so no picture of whole bytes is refused
    /// in PNG; a JPEG of one colour has 64.
    public var densityMax = 1_032
    /// Longest side of a photo and of what a filter makes, in pixels: whole rows are kept in memory.
    public var sideMax = 100_000
    /// Most filters of a recipe.
    public var filtersMax = ContractLimits.filtersMax
    /// How far a filter may look to each side, in pixels of the full photo: three σ of a Gaussian.
    public var radiusMax = 10_000
    /// Most frames of a movie: 20 minutes at 30 a second.
    public var movieFramesMax = 36_000
    /// Most seconds of a movie.
    public var movieSecondsMax = 3_600
    /// Most tracks of a movie: phones write up to nine.
    public var tracksMax = 32
    /// Most boxes of a movie, on all levels together.
    public var boxesMax = 20_000
    /// Most bytes of a render's spool files. Half a gigapixel of linear light has 8 GB.
    public var spoolMax = 16 << 30

    /// Most pixels when nobody says: half a gigapixel.
    public static let defaultPixelsMax = 512 * 1024 * 1024
    /// Pixels of a photo that are done in a second or two, however few bytes they come from.
    public static let densePixelsMin = 64 << 20

    /// The defaults.
    public init(pixelsMax: Int = defaultPixelsMax) {
        self.pixelsMax = pixelsMax
    }

    /// Refuses a photo of too many pixels, or of too long a side.
    ///
    /// - Throws: `tooManyPixels` or `exceedsLimit`.
    public func check(_ size: PixelSize, of photo: String) throws(Failure) {
        guard size.pixels <= pixelsMax else {
            throw Failure(
                .tooManyPixels,
                "\(photo) is \(size) pixels; render.pixels allows \(pixelsMax). Send a smaller photo, or "
                    + "raise --render-pixels.")
        }
        try check(.side, max(size.width, size.height), of: photo)
    }

    /// Refuses what is beyond a limit.
    ///
    /// - Parameters:
    ///   - found: what there is; a count that was broken off is one that is beyond the limit.
    ///   - subject: whose: a photo's path, a filter.
    /// - Throws: `exceedsLimit`.
    public func check(_ limit: RenderLimit, _ found: Int, of subject: String) throws(Failure) {
        let most = self[keyPath: limit.field]
        guard found > most else { return }
        throw refusal(limit, found, of: subject)
    }

    /// The refusal of what is beyond a limit.
    public func refusal(_ limit: RenderLimit, _ found: Int, of subject: String) -> Failure {
        Failure(
            .exceedsLimit,
            "\(subject) has \(limit.words(found)); \(limit.key) allows \(self[keyPath: limit.field]). \(limit.advice), or raise "
                + "\(limit.flag).")
    }
}

/// A limit's name, wherever one is named.
public enum RenderLimit: String, CaseIterable, Sendable {
    case bytes, frames, pages, scans, profile, metadata, density, side, filters, radius, spool
    case movieFrames, movieSeconds, tracks, boxes

    /// The setting.
    public var key: String { "limit." + rawValue }

    /// The command line's.
    public var flag: String {
        rawValue.reduce(into: "--limit-") { flag, letter in
            flag += letter.isUppercase ? "-" + letter.lowercased() : String(letter)
        }
    }

    /// The limit among the others.
    public var field: WritableKeyPath<RenderLimits, Int> {
        switch self {
        case .bytes: \.bytesMax
        case .frames: \.framesMax
        case .pages: \.pagesMax
        case .scans: \.scansMax
        case .profile: \.profileMax
        case .metadata: \.metadataMax
        case .density: \.densityMax
        case .side: \.sideMax
        case .filters: \.filtersMax
        case .radius: \.radiusMax
        case .spool: \.spoolMax
        case .movieFrames: \.movieFramesMax
        case .movieSeconds: \.movieSecondsMax
        case .tracks: \.tracksMax
        case .boxes: \.boxesMax
        }
    }

    /// What it may be set to.
    public var range: ClosedRange<Int> {
        switch self {
        case .bytes: 1...1 << 45
        case .spool: 0...1 << 45
        case .profile, .metadata: 0...1 << 30
        case .filters: 0...ContractLimits.filtersMax
        case .frames, .pages, .scans, .density, .side, .radius: 1...1_000_000
        case .movieFrames: 1...1_000_000
        case .movieSeconds: 1...7_200
        case .tracks: 1...1_000
        case .boxes: 1...1_000_000
        }
    }

    /// Whether it counts bytes.
    public var isOfBytes: Bool { [.bytes, .profile, .metadata, .spool].contains(self) }

    /// So many of what it counts.
    fileprivate func words(_ found: Int) -> String {
        switch self {
        case .bytes: "\(found) bytes"
        case .frames: "\(found) frames or more"
        case .pages: "\(found) pages or more"
        case .scans: "\(found) scans or more"
        case .profile: "an ICC profile of \(found) bytes or more"
        case .metadata: "\(found) bytes of metadata or more"
        case .density: "\(found) pixels for each byte of its file"
        case .side: "a side of \(found) pixels"
        case .filters: "\(found) filters"
        case .radius: "a reach of \(found) pixels"
        case .spool: "\(found) bytes of spool files"
        case .movieFrames: "\(found) frames"
        case .movieSeconds: "\(found) seconds"
        case .tracks: "\(found) tracks"
        case .boxes: "\(found) boxes or more"
        }
    }

    /// What who sent it can do.
    fileprivate var advice: String {
        switch self {
        case .bytes: "Send a smaller file"
        case .frames: "Send the frame that is meant"
        case .pages: "Send the page that is meant"
        case .scans: "Save it anew with fewer scans"
        case .profile: "Send it with a common profile"
        case .metadata: "Send it without what is large in them, such as layers or a depth map"
        case .density: "It looks like a trap; if it is a photo, save it in another format"
        case .side: "Make it smaller"
        case .filters: "Send fewer"
        case .radius: "Send a smaller radius"
        case .movieFrames, .movieSeconds: "Send a shorter movie"
        case .tracks, .boxes: "Send it without the tracks that are not needed"
        case .spool: "Send a smaller photo, or an edit that does not turn or distort it"
        }
    }
}
