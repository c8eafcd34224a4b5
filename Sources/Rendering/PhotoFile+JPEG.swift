import Edits
import PhotoFiles
import Files
import Codecs
import RenderProtocol

extension PhotoFile {
    /// Opens a JPEG: libvips reads its metadata, and ``JPEGReader`` its pixels, so that there is one list of warnings that lose no
    /// pixel. Nil for other formats, and for colours that neither is known to read alike.
    ///
    /// - Throws: `VipsError`, or the failure of reading the header.
    func jpegImage() throws -> Image? {
        guard format == .jpeg else { return nil }
        let original = try Image.open(
            descriptor, loader: "jpegload", streaming: true, failOn: .truncated)
        // The stream stays within limits on pixels and scans; coefficients of a progressive photo need memory by the estimate.
        let limits = jpegLimits(coefficientBytesMax: .max)
        let header: JPEGHeader
        do throws(JPEGError) {
            header = try JPEGReader(descriptor, limits: limits).header
        } catch {
            throw Failure(error, photo: name)
        }
        let bands: Int
        switch header.layout.colour {
        case .grey: bands = 1
        case .rgb, .ycbcr: bands = 3
        case .cmyk, .ycck: bands = 4
        case .unknown: return nil
        }
        let size = (width: header.layout.width, height: header.layout.height)
        guard original.width == size.width, original.height == size.height, original.bands == bands
        else { return nil }
        let rows = JPEGRows(file, limits, size)
        // Inks of a JPEG are stored inverted, as Adobe's programs do it; libvips takes all files for such.
        let isInverted = bands == 4
        return try Image.suppliedRows(
            RegionPicture(
                width: size.width, height: size.height, bands: bands, format: .uchar,
                interpretation: original.interpretation), like: original
        ) { row in
            if let problem = rows.next(into: row) { return problem }
            guard isInverted else { return nil }
            let codes = row.assumingMemoryBound(to: UInt8.self)
            for index in 0..<4 * size.width { codes[index] = 255 - codes[index] }
            return nil
        }
    }

    /// Whether a JPEG ends without its end marker (EOI). It is rendered if all pixels are there.
    ///
    /// Most files end in the marker. In others, such as motion photos, it is searched behind the first scan's header; coded pixels
    /// do not contain it.
    var hasNoEnd: Bool {
        guard format == .jpeg, let start = survey?.codesOffset else { return false }
        let tailBytes = min(Self.tailBytes, byteRange.count)
        let tail = bytes(from: byteRange.count - tailBytes, count: tailBytes)
        if Self.containsEnd(tail[...]) { return false }
        var window = window
        var offset = start
        while true {
            let part = window.stretch(offset, atLeast: 2)
            guard part.count >= 2 else { return true }
            if Self.containsEnd(part) { return false }
            // The last byte may be the first one of the marker.
            offset += part.count - 1
        }
    }

    /// Bytes that are searched before the whole file is: programs append few others.
    private static let tailBytes = 4096

    private static func containsEnd(_ bytes: ArraySlice<UInt8>) -> Bool {
        zip(bytes, bytes.dropFirst()).contains { $0 == 0xFF && $1 == 0xD9 }
    }
}

/// Rows of a JPEG of full size, from top to bottom; opened at the first one.
private final class JPEGRows {
    private let file: OpenFile
    private let limits: JPEGLimits
    private let size: (width: Int, height: Int)
    private var reader: JPEGReader?
    private var rows = 0

    init(_ file: OpenFile, _ limits: JPEGLimits, _ size: (width: Int, height: Int)) {
        (self.file, self.limits, self.size) = (file, limits, size)
    }

    /// Decodes the next row; after the last one, the rest of the file is read to verify that it is complete.
    ///
    /// - Returns: an error, or nil.
    func next(into row: UnsafeMutableRawPointer) -> String? {
        do throws(JPEGError) {
            if reader == nil { reader = try started() }
            guard let reader else { return nil }
            try reader.readRow(into: row.assumingMemoryBound(to: UInt8.self))
            rows += 1
            guard rows == size.height else { return nil }
            try reader.finish()
            self.reader = nil
            return nil
        } catch {
            return error.message
        }
    }

    private func started() throws(JPEGError) -> JPEGReader {
        let reader = try JPEGReader(file.descriptor, limits: limits)
        _ = try reader.startRows()
        return reader
    }
}

extension JPEGError {
    /// The message by which ``Failure/code(operation:text:format:)`` classifies failures.
    fileprivate var message: String {
        switch kind {
        case .damaged: "jpegload: \(text)"
        case .unsupported, .overLimit: "jpegload: unsupported: \(text)"
        case .outOfMemory: "jpegload: out of memory: \(text)"
        case .notRead, .notWritten: "jpegload: unix error: \(text)"
        case .notStored, .misused: "not found: \(text)"
        }
    }
}
