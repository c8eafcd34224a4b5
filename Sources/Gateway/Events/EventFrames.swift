import DequeModule
import NIOCore
import Synchronization

/// The newest events as bytes: made once for all followers that see the same of an event, and not once for each.
///
/// The view of a tenant parses an event and writes it anew, which took longer than all else that is done for a follower.
final class EventFrames: Sendable {
    /// Frames that are kept, some 600 bytes each.
    static let keptMax = 1000

    private struct Key: Hashable {
        let event: String
        let view: String
    }

    private struct State {
        /// nil: nothing is seen of it.
        var frames: [Key: ByteBuffer?] = [:]
        var order: Deque<Key> = []
    }

    private let state = Mutex(State())

    /// The frame of an event; nil when those with this view see nothing of it.
    ///
    /// - Parameters:
    ///   - event: its id in the stream.
    ///   - view: the same text for all who see the same.
    ///   - make: makes the frame; what it throws is not kept.
    func frame(
        of event: String, in view: String, _ make: () throws -> ByteBuffer?
    ) rethrows -> ByteBuffer? {
        let key = Key(event: event, view: view)
        if let kept = state.withLock({ $0.frames[key] }) { return kept }
        // Two that make it at the same time make the same.
        let frame = try make()
        state.withLock { state in
            guard state.frames.updateValue(frame, forKey: key) == nil else { return }
            state.order.append(key)
            if state.order.count > Self.keptMax, let oldest = state.order.popFirst() {
                state.frames[oldest] = nil
            }
        }
        return frame
    }
}
