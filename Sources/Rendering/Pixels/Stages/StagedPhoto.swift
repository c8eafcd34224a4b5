import Edits

/// The rows of a photo as they are decoded, for a thread that does not decode them itself.
final class StagedPhoto: PhotoReader {
    private let width: Int
    private let ring: RowRing
    /// Rows that were returned and may be in use.
    private var inUse = 0

    init(width: Int, _ ring: RowRing) { (self.width, self.ring) = (width, ring) }

    /// Returns the next strip, which stays valid until the next request.
    func rows(from top: Int, count: Int) -> RegionPixels? {
        if inUse > 0 { ring.release(inUse) }
        inUse = 0
        guard let start = ring.next(count) else { return nil }
        inUse = count
        return RegionPixels(
            area: PixelArea(left: 0, top: top, width: width, height: count), start: start,
            stride: ring.stride)
    }

    func pixels(of area: PixelArea) -> RegionPixels? {
        preconditionFailure("a photo that streams is read by whole rows")
    }
}
