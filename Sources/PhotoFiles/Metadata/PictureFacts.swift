public import Edits

/// The facts of a rendered picture with which its metadata must agree.
///
/// The picture is upright: its orientation is 1, and its pixels are stored in display order.
public struct PictureFacts: Sendable, Equatable {
    /// Columns and rows of the rendered picture.
    public var size: PixelSize
    /// Whether the location of the photo is removed.
    public var removesLocation: Bool
    /// Whether the samples became sRGB (true) or another colour space (false); nil if their meaning is that of the original.
    public var newColourIsSRGB: Bool?

    /// The positions of the photo's content in the picture.
    public var positions: Positions

    /// Whether EXIF's gain-map tags, Apple's headroom, are kept.
    public var hasGainMap: Bool

    /// The new identifier that the still of a Live Photo shares with its movie; nil for no change.
    public var contentIdentifier: String?

    /// The positions of a photo's content in the picture.
    public enum Positions: Sendable, Equatable {
        /// Unchanged.
        case same
        /// Moved by a geometry of the stored photo.
        case moved(Geometry)
        /// Unknown.
        case unknown
    }

    /// Makes facts.
    public init(
        size: PixelSize, removesLocation: Bool = false, newColourIsSRGB: Bool? = nil,
        positions: Positions = .same, hasGainMap: Bool = true, contentIdentifier: String? = nil
    ) {
        self.contentIdentifier = contentIdentifier
        self.hasGainMap = hasGainMap
        self.positions = positions
        self.size = size
        self.removesLocation = removesLocation
        self.newColourIsSRGB = newColourIsSRGB
    }
}
