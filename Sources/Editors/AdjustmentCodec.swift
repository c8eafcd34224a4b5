public import Adjustments
public import FoundationEssentials

/// Reads and writes one format of adjustment data.
///
/// A new format is one new file in `Codecs` and one line in ``EditorRegistry``. Data come from strangers:
/// a codec bounds what it reads, fails for what it does not understand and never guesses.
public protocol AdjustmentCodec: Sendable {
    /// Who writes the format, as reverse DNS: compared exactly.
    var formatIdentifier: String { get }
    /// The versions that it reads, oldest first.
    var formatVersions: [String] { get }
    /// The version that it writes: the newest, unless more apps can go on with an older one.
    var writtenVersion: String { get }

    /// Decodes an edit.
    ///
    /// - Returns: the recipe, in pixels of the full photo; or why the edit is beyond what this codec does.
    /// - Throws: `adjustmentDataUndecodable` when the bytes are not what the format says.
    func read(_ data: Data, of photo: EditedPhoto) throws(Failure) -> AdjustmentReading

    /// Encodes a recipe, in pixels of the full photo.
    ///
    /// - Throws: `adjustmentDataNotEncodable` when the format has no word for something in the recipe.
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

/// What a codec makes of adjustment data.
public enum AdjustmentReading: Sendable, Equatable {
    /// It can handle them: this is the edit.
    case recipe(Recipe)
    /// They are well-formed, but the edit has something that we do not do; the sentence says what.
    case cannotHandle(String)
}

/// What a codec has to know of the photo that an edit was made on.
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

    /// Its size as a person sees it.
    public var uprightSize: PixelSize { orientation.size(of: storedSize) }
}
