package import Edits

/// A reader of the pixels of a photo, valid for one call.
package protocol PhotoReader {
    /// Returns some whole rows, or nil if they cannot be read.
    func rows(from top: Int, count: Int) -> RegionPixels?
    /// Returns any rectangle of a photo that can be read in any order.
    func pixels(of area: PixelArea) -> RegionPixels?
}

/// The source of a chain's rows: a photo that is read while they are made.
package protocol PhotoSource: RowSource {
    /// The reader of the photo; nil while no row is being made. Read pixels are invalid then.
    var reader: (any PhotoReader)? { get set }
    /// Whether a read failed.
    var hasFailed: Bool { get }
}
