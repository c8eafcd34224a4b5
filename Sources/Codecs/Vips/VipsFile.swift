import CVips
import CCodecs
import Glibc

/// An open file for reading or writing by libvips. It keeps a duplicate of the descriptor.
///
/// `@unchecked Sendable` is safe because its reference count is atomic, and it is never modified.
final class VipsFile: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer

    private init(adopting pointer: UnsafeMutableRawPointer) { self.pointer = pointer }

    deinit { g_object_unref(pointer) }

    /// Creates a source that is read from the first byte on. The descriptor's offset does not change.
    static func source(_ descriptor: Int32) throws(VipsError) -> VipsFile {
        guard let pointer = minilab_source_new(descriptor) else {
            throw VipsError.drainingBuffer(operation: "source")
        }
        return VipsFile(adopting: pointer)
    }

    /// Creates a target that is written from the first byte on and replaces the contents.
    static func target(_ descriptor: Int32) throws(VipsError) -> VipsFile {
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0,
            let pointer = vips_target_new_to_descriptor(descriptor)
        else {
            throw VipsError.drainingBuffer(
                operation: "target", arguments: String(cString: strerror(errno)))
        }
        return VipsFile(adopting: UnsafeMutableRawPointer(pointer))
    }
}
