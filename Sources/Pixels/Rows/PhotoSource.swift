package import Adjustments

/// A reader of the pixels of a photo, for the time of one call.
package protocol PhotoReader {
    /// Some whole rows, or nil when they cannot be read.
    func rows(from top: Int, count: Int) -> RegionPixels?
    /// The same for any rectangle, of a photo that can be read in any order.
    func pixels(of area: PixelArea) -> RegionPixels?
}

/// Where the rows of a chain come from: a photo that is read while they are made.
package protocol PhotoSource: RowSource {
    /// The reader of the photo; nil when no row is being made, and what was read is gone then.
    var reader: (any PhotoReader)? { get set }
    /// Whether something could not be read.
    var hasFailed: Bool { get }
}
