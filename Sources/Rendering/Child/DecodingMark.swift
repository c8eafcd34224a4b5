import Synchronization

/// Whether a decoder has opened the photo of the request that is being answered.
final class DecodingMark: Sendable {
    private let mark = Mutex(false)

    /// Whether one has.
    var isSet: Bool { mark.withLock { $0 } }

    /// Another request begins.
    func clear() { mark.withLock { $0 = false } }

    /// A decoder is about to open the photo.
    func set() { mark.withLock { $0 = true } }
}
