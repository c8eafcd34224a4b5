public import Edits
public import FoundationEssentials

/// Apple's edits of videos: recognised by name, so that the reason is reported, and never supported.
public struct AppleVideo: AdjustmentCodec {
    public let formatIdentifier: String
    public let formatVersions = ["1.0", "1.1"]

    public static let video = AppleVideo("com.apple.video")
    public static let slowMotion = AppleVideo("com.apple.video.slomo")

    private init(_ formatIdentifier: String) { self.formatIdentifier = formatIdentifier }

    public func read(_ data: Data, of photo: EditedPhoto) throws(Failure) -> AdjustmentReading {
        .cannotHandle(
            "\(formatIdentifier) is Apple's format for edits of movies, which Minilab cannot read.")
    }

    public func write(_ recipe: Recipe, for photo: EditedPhoto) throws(Failure) -> Data {
        throw Failure(
            .adjustmentDataNotEncodable,
            "\(formatIdentifier) is for edits of videos. Write the recipe as "
                + "\(AdjustmentData.minilabFormatIdentifier).")
    }
}
