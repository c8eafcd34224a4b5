import DequeModule
import NIOCore
import Synchronization

/// The newest events as bytes, made once for all followers that share a view and not once for each follower.
///
/// A tenant's view parses an event and serializes it again, which took longer than all other work for a follower.
final class EventFrames: Sendable {
    /// Frames that are kept, about 600 bytes each, and the most bytes of all of them.
    static let keptMax = 1000
    static let keptBytesMax = 4 << 20

    private struct Key: Hashable {
        let event: String
        let view: String
    }

    private struct State {
        /// The frames; a nil value means that the view hides the event.
        var frames: [Key: ByteBuffer?] = [:]
        var order: Deque<Key> = []
        var bytes = 0
    }

    private let state = Mutex(State())

    /// Returns the frame of an event; nil if the view hides the event.
    ///
    /// - Parameters:
    ///   - event: the event's id in the stream.
    ///   - view: the name of the view, equal for all followers that see the same text.
    ///   - make: makes the frame; an error that it throws is not cached.
    func frame(
        of event: String, in view: String, _ make: () throws -> ByteBuffer?
    ) rethrows -> ByteBuffer? {
        let key = Key(event: event, view: view)
        if let kept = state.withLock({ $0.frames[key] }) { return kept }
        // Two tasks that make the frame at the same time make the same bytes.
        let frame = try make()
        state.withLock { state in
            guard state.frames.updateValue(frame, forKey: key) == nil else { return }
            state.order.append(key)
            state.bytes += frame?.readableBytes ?? 0
            while state.order.count > Self.keptMax || state.bytes > Self.keptBytesMax,
                let oldest = state.order.popFirst()
            {
                let dropped = state.frames.removeValue(forKey: oldest)
                state.bytes -= dropped??.readableBytes ?? 0
            }
        }
        return frame
    }
}
