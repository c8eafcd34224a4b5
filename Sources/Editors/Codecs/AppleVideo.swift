public import Adjustments
public import FoundationEssentials

/// Apple's edits of videos: known by name, so that the reason is told, and never handled.
public struct AppleVideo: AdjustmentCodec {
    public let formatIdentifier: String
    /// All that have been seen.
    public let formatVersions = ["1.0", "1.1"]

    /// Trims and effects of videos.
    public static let video = AppleVideo("com.apple.video")
    /// Slow motion.
    public static let slowMotion = AppleVideo("com.apple.video.slomo")

    /// Whether a format is of edits of videos, those included that have not been seen.
    public static func owns(_ formatIdentifier: String) -> Bool {
        formatIdentifier == video.formatIdentifier
            || formatIdentifier.hasPrefix(video.formatIdentifier + ".")
    }

    private init(_ formatIdentifier: String) { self.formatIdentifier = formatIdentifier }

    public func read(_ data: Data, of photo: EditedPhoto) throws(Failure) -> AdjustmentReading {
        .cannotHandle("\(formatIdentifier) is an edit of a video; photos are edited here.")
    }

    public func write(_ recipe: Recipe, for photo: EditedPhoto) throws(Failure) -> Data {
        throw Failure(
            .adjustmentDataNotEncodable,
            "\(formatIdentifier) is for edits of videos. Write the recipe as "
                + "\(AdjustmentData.minilabFormatIdentifier).")
    }
}
