import Adjustments
import Boxes
import Files
import GainMaps

/// Puts a gain map behind a JPEG that is finished, whoever wrote it, and what is said of it into its head.
enum UltraHDRFile {
    /// Joins them; all offsets are true afterwards.
    ///
    /// - Throws: `ioFailure`, `noSpace`, or `internalError` when the file is no JPEG.
    static func join(_ map: [UInt8], to file: OpenFile) throws(Failure) {
        let length = try file.length()
        var window = FileWindow(length: length) { file.bytes(from: $0, count: $1) }
        guard let photo = JPEGSegments(&window, at: 0) else {
            throw Failure(.internalError, "\(file.name) is no JPEG, so no gain map can follow it.")
        }
        let head = UltraHDR.head(of: photo, length: length, mapBytes: map.count)
        let added = head.bytes.count - head.replaced.count
        try file.moveUp(from: head.replaced.upperBound, by: added)
        try file.write(head.bytes, at: head.replaced.lowerBound)
        try file.write(map, at: length + added)
    }
}

extension OpenFile {
    private static let stepBytes = 1 << 20

    /// Makes room: all bytes from a place on move up, the last ones first.
    ///
    /// - Throws: `ioFailure`, `noSpace`.
    func moveUp(from place: Int, by count: Int) throws(Failure) {
        var end = try length()
        while end > place {
            let start = max(place, end - Self.stepBytes)
            let bytes = bytes(from: start, count: end - start)
            guard bytes.count == end - start else {
                throw Failure(.ioFailure, "\(name) cannot be read back.")
            }
            try write(bytes, at: start + count)
            end = start
        }
    }
}
