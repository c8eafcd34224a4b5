import Synchronization

/// A mark of whether a decoder has opened the photo of the current request.
final class DecodingMark: Sendable {
    private let mark = Mutex(false)

    /// Whether a decoder has opened the photo.
    var isSet: Bool { mark.withLock { $0 } }

    /// Clears the mark when another request begins.
    func clear() { mark.withLock { $0 = false } }

    /// Sets the mark when a decoder is about to open the photo.
    func set() { mark.withLock { $0 = true } }
}
