import CVips
import CVipsFiles
import Glibc

/// An open file as libvips reads or writes it: it keeps a duplicate of the descriptor.
///
/// `@unchecked Sendable` is true because its reference count is atomic, and nobody changes what it is.
final class VipsFile: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer

    private init(adopting pointer: UnsafeMutableRawPointer) { self.pointer = pointer }

    deinit { g_object_unref(pointer) }

    /// To be read from the first byte on; the descriptor's place stays where it is.
    static func source(_ descriptor: Int32) throws(VipsError) -> VipsFile {
        guard let pointer = minilab_source_new(descriptor) else {
            throw VipsError.taking(operation: "source")
        }
        return VipsFile(adopting: pointer)
    }

    /// To be written from the first byte on; what was in it goes.
    static func target(_ descriptor: Int32) throws(VipsError) -> VipsFile {
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0,
            let pointer = vips_target_new_to_descriptor(descriptor)
        else {
            throw VipsError.taking(
                operation: "target", arguments: String(cString: strerror(errno)))
        }
        return VipsFile(adopting: UnsafeMutableRawPointer(pointer))
    }
}
