import RenderProtocol

/// The limits on a photo's header, which apply to every job.
extension Settings {
    package static let renderPixels = Setting(
        "render.pixels", .number(1...100_000_000_000), default: RenderLimits.defaultPixelsMax,
        help: "Maximum number of pixels of a photo")

    /// Returns the setting of a limit.
    static func limit(_ limit: RenderLimit) -> Setting<Int> {
        let usual = RenderLimits()[keyPath: limit.field]
        return limit.countsBytes
            ? Setting(limit.key, .bytes(limit.range), default: usual, help: help(limit))
            : Setting(limit.key, .number(limit.range), default: usual, help: help(limit))
    }

    private static func help(_ limit: RenderLimit) -> String {
        switch limit {
        case .bytes: "Most bytes of a file"
        case .frames: "Most frames of an animation"
        case .pages: "Most pages of a TIFF"
        case .scans: "Most scans of a JPEG"
        case .profile: "Most bytes of an ICC profile, inflated"
        case .metadata: "Most bytes of other metadata, inflated"
        case .density: "Most pixels of a large photo for each byte of its file"
        case .side: "Longest side of a photo and of what a filter makes"
        case .filters: "Most filters of an edit"
        case .radius: "How far a filter may look, in pixels"
        case .spool: "Most bytes of a render's spool files"
        case .movieFrames: "Most frames of a movie"
        case .movieSeconds: "Most seconds of a movie"
        case .tracks: "Most tracks of a movie"
        case .boxes: "Most boxes of a movie"
        }
    }
}
