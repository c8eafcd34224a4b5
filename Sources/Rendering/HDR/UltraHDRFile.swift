import Edits
import PhotoFiles
import Files

/// Appends a gain map and a video to a finished JPEG of any encoder, and describes them in its head.
enum UltraHDRFile {
    /// Joins the parts and updates all offsets.
    ///
    /// - Throws: `ioFailure`, `noSpace`, or `internalError` when the file is no JPEG.
    static func join(
        _ map: [UInt8]?, _ video: AttachedVideo? = nil, to file: OpenFile
    ) throws(Failure) {
        guard map != nil || video != nil else { return }
        let length = try file.length()
        var window = FileWindow(length: length) { file.bytes(from: $0, count: $1) }
        guard let photo = JPEGSegments(&window, at: 0) else {
            throw Failure(.internalError, "\(file.name) is no JPEG, so nothing can follow it.")
        }
        let attachments = Attachments(mapBytes: map?.count, video: video?.attachment)
        guard let head = UltraHDR.head(of: photo, length: length, attachments) else {
            throw Failure(
                .internalError,
                "\(file.name) has no room in its XMP for the description of its video. Keep the photo for a report."
            )
        }
        let added = head.bytes.count - head.replaced.count
        try file.move(from: head.replaced.upperBound, by: added)
        try file.write(head.bytes, at: head.replaced.lowerBound)
        try file.write(map ?? [], at: length + added)
        try file.write(video?.bytes ?? [], at: length + added + (map?.count ?? 0))
    }
}

extension OpenFile {
    private static let stepBytes = 1 << 20

    /// Inserts or removes bytes: moves all bytes after an offset up, the last ones first, or down.
    ///
    /// - Throws: `ioFailure`, `noSpace`.
    func move(from offset: Int, by count: Int) throws(Failure) {
        let length = try length()
        if count > 0 {
            var end = length
            while end > offset {
                let start = max(offset, end - Self.stepBytes)
                try move(start..<end, by: count)
                end = start
            }
        } else if count < 0 {
            var start = offset
            while start < length {
                let end = min(length, start + Self.stepBytes)
                try move(start..<end, by: count)
                start = end
            }
            try cut(to: length + count)
        }
    }

    private func move(_ range: Range<Int>, by count: Int) throws(Failure) {
        let bytes = bytes(from: range.lowerBound, count: range.count)
        guard bytes.count == range.count else {
            throw Failure(.ioFailure, "\(name) cannot be read back.")
        }
        try write(bytes, at: range.lowerBound + count)
    }
}
