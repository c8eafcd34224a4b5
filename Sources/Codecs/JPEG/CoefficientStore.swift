import CCodecs

/// Storage for the coefficients of a photo outside of ``JPEGTransform``'s memory.
///
/// One thread uses it at a time. The store reports its own errors: the transform only throws ``JPEGError/Kind/notStored``.
public protocol CoefficientStore: AnyObject {
    /// Stores the next rows of a component, all of whose MCUs are whole.
    ///
    /// - Parameters:
    ///   - rows: without gaps.
    ///   - area: in blocks; at full width.
    /// - Returns: whether it succeeded.
    func put(_ rows: UnsafeRawPointer, _ area: CoefficientArea) -> Bool

    /// Reads a part of the stored coefficients.
    ///
    /// - Parameter target: receives the rows without gaps.
    /// - Returns: whether it succeeded.
    func get(_ area: CoefficientArea, into target: UnsafeMutableRawPointer) -> Bool
}

/// A rectangle of a component's blocks.
public struct CoefficientArea: Sendable, Equatable {
    /// Bytes of a block: 64 coefficients of 2.
    public static let blockBytes = 128

    /// The component's index.
    public let component: Int
    /// Blocks left of it and above it.
    public let left, top: Int
    /// Its size in blocks.
    public let width, height: Int

    init(_ blocks: minilab_jpeg_blocks) {
        component = Int(blocks.component)
        (left, top) = (Int(blocks.left), Int(blocks.top))
        (width, height) = (Int(blocks.width), Int(blocks.height))
    }
}

/// The C view of a store, for the duration of a transform.
final class CoefficientStoreShim {
    private let store: any CoefficientStore
    /// Valid for the lifetime of this object.
    let pointer = UnsafeMutablePointer<minilab_jpeg_store>.allocate(capacity: 1)

    init(_ store: any CoefficientStore) {
        self.store = store
        pointer.initialize(
            to: minilab_jpeg_store(
                context: Unmanaged.passUnretained(self).toOpaque(),
                put: { context, blocks, from in
                    guard let context, let blocks, let from else { return false }
                    return Unmanaged<CoefficientStoreShim>.fromOpaque(context)
                        .takeUnretainedValue().store.put(from, CoefficientArea(blocks.pointee))
                },
                get: { context, blocks, target in
                    guard let context, let blocks, let target else { return false }
                    return Unmanaged<CoefficientStoreShim>.fromOpaque(context)
                        .takeUnretainedValue().store.get(
                            CoefficientArea(blocks.pointee), into: target)
                }))
    }

    deinit { pointer.deallocate() }
}
