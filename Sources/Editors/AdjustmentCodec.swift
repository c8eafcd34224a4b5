public import Edits
public import FoundationEssentials

/// Reads and writes one format of adjustment data.
///
/// A new format is one new file in `Codecs` and one line in ``EditorRegistry``. Data are untrusted: a codec bounds its input,
/// rejects everything that it does not support and never guesses.
public protocol AdjustmentCodec: Sendable {
    /// The format identifier, as reverse DNS; compared exactly.
    var formatIdentifier: String { get }
    /// The versions that it reads, oldest first.
    var formatVersions: [String] { get }
    /// The version that it writes: the newest, unless more apps support an older one.
    var writtenVersion: String { get }

    /// Decodes an edit.
    ///
    /// - Returns: the recipe, in pixels of the full photo; or the reason why this codec does not support the edit.
    /// - Throws: `adjustmentDataUndecodable` if the bytes violate the format.
    func read(_ data: Data, of photo: EditedPhoto) throws(Failure) -> AdjustmentReading

    /// Encodes a recipe, in pixels of the full photo.
    ///
    /// - Throws: `adjustmentDataNotEncodable` if the format cannot express something in the recipe.
    func write(_ recipe: Recipe, for photo: EditedPhoto) throws(Failure) -> Data
}

extension AdjustmentCodec {
    public var writtenVersion: String {
        guard let newest = formatVersions.last else {
            preconditionFailure("\(formatIdentifier) has no version")
        }
        return newest
    }
}

/// The result of reading adjustment data.
public enum AdjustmentReading: Sendable, Equatable {
    /// The edit is supported.
    case recipe(Recipe)
    /// The data are well-formed, but the edit contains something unsupported; the sentence names it.
    case cannotHandle(String)
}

/// The properties of the edited photo that codecs need.
public struct EditedPhoto: Sendable, Equatable {
    /// Its size as stored, before orientation.
    public let storedSize: PixelSize
    /// Its EXIF orientation.
    public let orientation: Orientation

    /// Makes it.
    public init(storedSize: PixelSize, orientation: Orientation) {
        self.storedSize = storedSize
        self.orientation = orientation
    }

    /// Its size as displayed.
    public var uprightSize: PixelSize { orientation.size(of: storedSize) }
}
