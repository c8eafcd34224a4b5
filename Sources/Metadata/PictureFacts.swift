public import Adjustments

/// What is true of a rendered picture and therefore has to stand in its metadata.
///
/// The picture is upright: its orientation is 1, and its pixels lie as it is to be looked at.
public struct PictureFacts: Sendable, Equatable {
    /// Columns and rows of the rendered picture.
    public var size: PixelSize
    /// Whether where the photo was taken is to be forgotten.
    public var removesLocation: Bool
    /// Whether the samples became sRGB, or something else than what they were; nil when they mean
    /// what they meant in the original.
    public var newColourIsSRGB: Bool?

    /// Where what the photo showed lies now.
    public var places: Places

    /// Whether what EXIF says of a gain map stays: Apple's headroom.
    public var hasGainMap: Bool

    /// The mark that the still of a Live Photo shares with its movie from now on; nil: as before.
    public var contentIdentifier: String?

    /// Where what a photo showed lies in the picture.
    public enum Places: Sendable, Equatable {
        /// Where it lay.
        case same
        /// Where a geometry of the photo as stored moved it.
        case moved(Geometry)
        /// Nobody says.
        case unknown
    }

    /// Makes facts.
    public init(
        size: PixelSize, removesLocation: Bool = false, newColourIsSRGB: Bool? = nil,
        places: Places = .same, hasGainMap: Bool = true, contentIdentifier: String? = nil
    ) {
        self.contentIdentifier = contentIdentifier
        self.hasGainMap = hasGainMap
        self.places = places
        self.size = size
        self.removesLocation = removesLocation
        self.newColourIsSRGB = newColourIsSRGB
    }
}
