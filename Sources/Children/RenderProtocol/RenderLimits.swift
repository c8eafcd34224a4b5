public import Edits

/// The limits that a child checks in a photo's header, before a decoder reads the file.
///
/// A photo with too many pixels fails with a code of its own, `tooManyPixels`; all other limits fail with `exceedsLimit`, with the
/// name of the limit in the message.
public struct RenderLimits: Sendable, Codable, Equatable {
    /// The maximum number of pixels of a photo, width × height: `render.pixels`.
    public var pixelsMax: Int
    /// The maximum size of a file in bytes. Offsets of a classic TIFF end here (TIFF 6.0 §2).
    public var bytesMax = 4 << 30
    /// The maximum number of frames of an animation, of which the first is rendered; libvips reads all of them when it opens a GIF.
    /// Two minutes at 30 a second.
    public var framesMax = 3_600
    /// The maximum number of directories of a TIFF; libtiff reads all of them when libvips opens one.
    public var pagesMax = 1_000
    /// The maximum number of scans of a JPEG, each of which costs a pass over all coefficients. The value of libjpeg-turbo's
    /// own tools (`TJFLAG_LIMITSCANS`, turbojpeg.c).
    public var scansMax = 500
    /// The maximum size of an ICC profile, inflated, in bytes. The value of libpng for any chunk (`PNG_USER_CHUNK_MALLOC_MAX`).
    public var profileMax = 8_000_000
    /// The maximum size of all other metadata, inflated, in bytes. Profiles of presses, XMP with depth maps, and the
    /// layers of small TIFFs stay below.
    public var metadataMax = 16 << 20
    /// The maximum number of pixels per byte of the file, for a photo with more than ``densePixelsMin`` pixels. DEFLATE reaches
    /// at most 1032 bytes to one (zlib's technical details), so no picture of whole bytes is refused in PNG; a JPEG of one
    /// colour has 64.
    public var densityMax = 1_032
    /// The longest side of a photo and of a filter's result, in pixels: whole rows are kept in memory.
    public var sideMax = 100_000
    /// The maximum number of filters of a recipe.
    public var filtersMax = ContractLimits.filtersMax
    /// The maximum reach of a filter to each side, in pixels of the full photo: three σ of a Gaussian.
    public var radiusMax = 10_000
    /// The maximum number of frames of a movie: 20 minutes at 30 a second.
    public var movieFramesMax = 36_000
    public var movieSecondsMax = 3_600
    /// The maximum number of tracks of a movie: phones write up to nine.
    public var tracksMax = 32
    /// The maximum number of boxes of a movie, on all levels together.
    public var boxesMax = 20_000
    /// The maximum size of a render's spool files, in bytes. Half a gigapixel of linear light has 8 GB.
    public var spoolMax = 16 << 30

    /// The default maximum number of pixels: half a gigapixel.
    public static let defaultPixelsMax = 512 * 1024 * 1024
    /// The number of pixels up to which a photo renders in a second or two, whatever the size of its file.
    public static let densePixelsMin = 64 << 20

    public init(pixelsMax: Int = defaultPixelsMax) {
        self.pixelsMax = pixelsMax
    }

    /// Checks the number of pixels and the sides of a photo.
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

    /// Checks a value against a limit.
    ///
    /// - Parameters:
    ///   - found: The value; a count that was aborted is one that exceeds the limit.
    ///   - subject: The subject of the message: a photo's path, a filter.
    /// - Throws: `exceedsLimit`.
    public func check(_ limit: RenderLimit, _ found: Int, of subject: String) throws(Failure) {
        let most = self[keyPath: limit.field]
        guard found > most else { return }
        throw refusal(limit, found, of: subject)
    }

    public func refusal(_ limit: RenderLimit, _ found: Int, of subject: String) -> Failure {
        Failure(
            .exceedsLimit,
            "\(subject) has \(limit.text(found)); \(limit.key) allows \(self[keyPath: limit.field]). \(limit.advice), or raise "
                + "\(limit.flag).")
    }
}

/// The name of a limit, in settings, options and messages.
public enum RenderLimit: String, CaseIterable, Sendable {
    case bytes, frames, pages, scans, profile, metadata, density, side, filters, radius, spool
    case movieFrames, movieSeconds, tracks, boxes

    /// The name of the setting.
    public var key: String { "limit." + rawValue }

    /// The option of the command line.
    public var flag: String {
        rawValue.reduce(into: "--limit-") { flag, letter in
            flag += letter.isUppercase ? "-" + letter.lowercased() : String(letter)
        }
    }

    /// The property of ``RenderLimits``.
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

    /// The permitted values.
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

    public var countsBytes: Bool { [.bytes, .profile, .metadata, .spool].contains(self) }

    fileprivate func text(_ found: Int) -> String {
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

    /// The advice for the sender of the photo or edit.
    fileprivate var advice: String {
        switch self {
        case .bytes: "Send a smaller file"
        case .frames: "Send the wanted frame as a file"
        case .pages: "Send the wanted page as a file"
        case .scans: "Save it again with fewer scans"
        case .profile: "Send it with a common profile"
        case .metadata: "Send it without large metadata, such as layers or a depth map"
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

/// The degree to which a render is restricted so that it needs less memory. The rungs form a ladder: each includes the
/// restrictions of all previous rungs. The picture is the same on each.
public enum MemoryRung: String, Sendable, Codable, CaseIterable {
    /// No restriction: the fastest way.
    case usual
    /// One thread computes pixels, because each thread has tiles of its own.
    case oneThread
    /// Tiles have half as many rows: those that are read, computed and written at a time.
    case lowTiles
    /// Data that are needed in another order than they are read go to a spool file, whatever their size.
    case spooled
}

extension MemoryRung {
    /// The description for people.
    public var text: String {
        switch self {
        case .usual: "as it is fastest"
        case .oneThread: "by one thread"
        case .lowTiles: "by one thread, half as many rows at a time"
        case .spooled:
            "by one thread, half as many rows at a time, with a spool file instead of memory"
        }
    }
}
