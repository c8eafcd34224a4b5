import ArgumentParser
import RenderProtocol

/// The flags that say what is refused by a photo's header, whoever asks for it.
package struct LimitOptions: ParsableArguments {
    @Option(help: "Most pixels of a photo (default: 536870912).") var renderPixels: String?
    @Option(help: "Most bytes of a file (default: 4G).") var limitBytes: String?
    @Option(help: "Most frames of an animation (default: 3600).") var limitFrames: String?
    @Option(help: "Most pages of a TIFF (default: 1000).") var limitPages: String?
    @Option(help: "Most scans of a JPEG (default: 500).") var limitScans: String?
    @Option(help: "Most bytes of an ICC profile, inflated (default: 8000000).")
    var limitProfile: String?
    @Option(help: "Most bytes of other metadata, inflated (default: 16M).")
    var limitMetadata: String?
    @Option(help: "Most pixels of a large photo for each byte of its file (default: 1032).")
    var limitDensity: String?
    @Option(help: "Longest side of a photo and of what a filter makes (default: 100000).")
    var limitSide: String?
    @Option(help: "Most filters of an edit (default: 32).") var limitFilters: String?
    @Option(help: "How far a filter may look, in pixels (default: 10000).")
    var limitRadius: String?
    @Option(help: "Most bytes of a render's spool files (default: 16G).")
    var limitSpool: String?
    @Option(help: "Most frames of a movie (default: 36000).") var limitMovieFrames: String?
    @Option(help: "Most seconds of a movie (default: 3600).") var limitMovieSeconds: String?
    @Option(help: "Most tracks of a movie (default: 32).") var limitTracks: String?
    @Option(help: "Most boxes of a movie (default: 20000).") var limitBoxes: String?

    package init() {}

    /// What was given, by key of the setting.
    package var flags: [String: String?] {
        [
            "render.pixels": renderPixels, "limit.bytes": limitBytes,
            "limit.frames": limitFrames, "limit.pages": limitPages, "limit.scans": limitScans,
            "limit.profile": limitProfile, "limit.metadata": limitMetadata,
            "limit.density": limitDensity, "limit.side": limitSide,
            "limit.filters": limitFilters, "limit.radius": limitRadius,
            "limit.spool": limitSpool, "limit.movieFrames": limitMovieFrames,
            "limit.movieSeconds": limitMovieSeconds, "limit.tracks": limitTracks,
            "limit.boxes": limitBoxes,
        ]
    }
}

extension RenderLimits {
    /// Reads them all.
    init(_ reader: inout SettingsReader) {
        self.init(
            pixelsMax: reader.value(
                .number(
                    "render.pixels", 1...100_000_000_000,
                    default: "\(RenderLimits.defaultPixelsMax)"), or: 1))
        for limit in RenderLimit.allCases {
            let usual = self[keyPath: limit.field]
            self[keyPath: limit.field] = reader.value(
                limit.isOfBytes
                    ? .bytes(limit.key, limit.range, default: "\(usual)")
                    : .number(limit.key, limit.range, default: "\(usual)"),
                or: usual)
        }
    }
}
