import Edits
import PhotoFiles
import Files

/// Adds the extension of an XMP packet to a finished JPEG. libvips writes one segment of XMP.
enum ExtendedXMPFile {
    /// Adds the segments after that of the packet.
    ///
    /// - Throws: `ioFailure`, `noSpace`, or `internalError` if the file has no packet.
    static func add(_ parts: [[UInt8]], to file: OpenFile) throws(Failure) {
        guard !parts.isEmpty else { return }
        var window = FileWindow(length: try file.length()) { file.bytes(from: $0, count: $1) }
        let segments = JPEGSegments(&window, at: 0)?.segments ?? []
        guard
            let packet = segments.first(where: {
                $0.code == 0xE1 && $0.content(after: JPEGSegments.xmpSignature) != nil
            })
        else {
            throw Failure(
                .internalError,
                "\(file.name) was written without the XMP packet that names an extension. Report it with the photo."
            )
        }
        let end = packet.contentOffset + packet.bytes.count
        let bytes = parts.flatMap { UltraHDR.bytes(0xE1, ExtendedXMP.signature + $0) }
        try file.move(from: end, by: bytes.count)
        try file.write(bytes, at: end)
    }
}
