import Edits
import RenderProtocol

/// The decode of a full picture in planes, which also yields the pixels of the small pictures of the same request.
///
/// The other lanes decode once more for the small pictures, because libvips asks a picture for its pixels and does not deliver
/// them to two readers. Measurements are in MEASURED.md beside ``PlanesLane``.
struct SharedDecode {
    /// The index of the full picture, which is written before the small ones.
    let full: Int
    /// The copy that is filled while the full picture is written.
    let copy: PlaneCopy

    /// The most bytes of the copy, which exists while the full picture is rendered.
    private static let bytesMax = 24 << 20

    /// Plans the copy; nil if no small picture is requested, or if none of these pictures is edited in planes that can yield it.
    ///
    /// - Parameter memoryMax: bytes that the full picture and the copy may need together, or nil for no bound.
    init?(of photos: [Photo], memoryMax: Int?) {
        guard let size = SmallCopies.sizes(of: photos).first,
            let full = photos.firstIndex(where: { $0.copySize == nil && $0.plan.lane == .planes }),
            let turn = Planner.turn(of: photos[full].planned.passes),
            let copy = photos[full].opened.planes?.copy(atLeast: size, turned: turn),
            copy.bytes <= Self.bytesMax,
            photos[full].plan.estimate.memoryBytes + copy.bytes <= memoryMax ?? .max
        else { return nil }
        (self.full, self.copy) = (full, copy)
    }
}
