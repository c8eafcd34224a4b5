import PhotoFiles
import RenderProtocol
import Synchronization

/// A file that counts how much of it is read.
final class CountedFile: Sendable {
    private let part: @Sendable (Int, Int) -> [UInt8]
    let length: Int
    private let count = Mutex(0)

    init(_ bytes: [UInt8]) {
        length = bytes.count
        part = { Array(bytes.dropFirst($0).prefix($1)) }
    }

    /// Of a length of its own: zeros behind the bytes, as in a sparse file.
    init(_ bytes: [UInt8], length: Int) {
        self.length = length
        part = { offset, count in
            (offset..<min(offset + count, length)).map { $0 < bytes.count ? bytes[$0] : 0 }
        }
    }

    var bytesRead: Int { count.withLock { $0 } }

    func survey(_ format: PhotoFormat, _ limits: RenderLimits = RenderLimits()) -> PhotoSurvey {
        let part = part
        let file = FileWindow(length: length) { offset, count in
            let bytes = part(offset, count)
            self.count.withLock { $0 += bytes.count }
            return bytes
        }
        return PhotoSurvey(format, file, limits: limits)
    }
}
