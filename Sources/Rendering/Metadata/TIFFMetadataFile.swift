import Edits
import Files
import PhotoFiles

/// Appends EXIF and IPTC to a TIFF file. libvips writes neither of them correctly.
enum TIFFMetadataFile {
    /// Appends EXIF and IPTC. The new directory takes effect when its offset is written to the header.
    ///
    /// - Throws: `ioFailure` or `noSpace`.
    static func append(exif: [UInt8]?, iptc: [UInt8]?, to file: OpenFile) throws(Failure) {
        let length = try file.length()
        let graft = TIFFGraft(exif: exif, iptc: iptc, length: length) { offset, count in
            file.bytes(from: offset, count: count)
        }
        guard let graft else { return }
        try file.write(graft.bytes, at: length)
        try file.write(graft.link, at: 4)
    }
}
