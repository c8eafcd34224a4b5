import Dispatch
import Synchronization

/// Threads for calls that block, so that nobody waits for somebody else's disk.
///
/// Dispatch's global queue has as many threads as there are cores, and gets one more after each second in which all of them block: 16 calls of
/// 0.3 s took 1.5 s on two cores, and take 0.3 s here. A serial queue has a thread of its own while it has work.
package final class BlockingThreads: Sendable {
    /// The most calls of a process that run at a time; further ones wait in their order.
    ///
    /// 64 is four times the 16 originals that one key may send at a time. A thread has 8 MB of addresses, and touches some KB of them.
    package static let callsMax = 64

    /// The threads of this process.
    package static let shared = BlockingThreads(callsMax: callsMax)

    private struct State {
        var idle: [DispatchQueue]
        var waiting: [@Sendable () -> Void] = []
    }

    private let state: Mutex<State>

    /// Prepares threads; each starts with its first call.
    package init(callsMax: Int) {
        state = Mutex(State(idle: (0..<callsMax).map { DispatchQueue(label: "blocking \($0)") }))
    }

    /// Runs a call on an idle thread, or on the first one that becomes idle.
    package func run(_ body: @escaping @Sendable () -> Void) {
        let thread = state.withLock { state in
            let thread = state.idle.popLast()
            if thread == nil { state.waiting.append(body) }
            return thread
        }
        if let thread { run(body, on: thread) }
    }

    private func run(_ body: @escaping @Sendable () -> Void, on thread: DispatchQueue) {
        thread.async { [self] in
            body()
            let next = state.withLock { state -> (@Sendable () -> Void)? in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
                state.idle.append(thread)
                return nil
            }
            if let next { run(next, on: thread) }
        }
    }
}
