import Adjustments
import Files
import Metadata

/// Appends EXIF and IPTC to a TIFF file, to which libvips writes neither as it should.
enum TIFFMetadataFile {
    /// Appends them; the new directory counts once its offset is in the header.
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
