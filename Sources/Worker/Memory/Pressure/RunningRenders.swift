import JobQueue
import Synchronization

/// The renders that run, the oldest first: from a job's first pixel until its child is given back.
final class RunningRenders: Sendable {
    /// One of them.
    struct Render: Sendable {
        /// Grows from one to the next.
        let number: Int
        let child: RenderChild
        /// For whom, if for a job.
        let job: LoggedJob?
        /// Stands still.
        fileprivate(set) var isPaused = false
        /// Was killed, because its job is handed back.
        fileprivate(set) var isRequeued = false
    }

    private struct State {
        var next = 0
        var renders: [Render] = []
    }

    private let state = Mutex(State())

    /// How many run, and how many stand still.
    var counts: (running: Int, paused: Int) {
        state.withLock { state in
            let paused = state.renders.count { $0.isPaused && !$0.isRequeued }
            return (state.renders.count { !$0.isRequeued } - paused, paused)
        }
    }

    /// A render begins.
    ///
    /// - Returns: its number.
    func begin(_ child: RenderChild) -> Int {
        state.withLock { state in
            state.next += 1
            state.renders.append(Render(number: state.next, child: child, job: .current))
            return state.next
        }
    }

    /// A render has ended, in whatever way; its child may be used again.
    ///
    /// - Returns: whether it was killed because its job is handed back.
    func end(_ number: Int) -> Bool {
        state.withLock { state in
            guard let index = state.renders.firstIndex(where: { $0.number == number }) else {
                return false
            }
            let render = state.renders.remove(at: index)
            if render.isPaused { render.child.resume() }
            return render.isRequeued
        }
    }

    /// Does a step.
    ///
    /// - Returns: to which render; nil when it has ended meanwhile.
    func take(_ step: RenderStep) -> Render? {
        state.withLock { state in
            let index =
                switch step {
                case .pause: state.renders.lastIndex { !$0.isPaused && !$0.isRequeued }
                case .resume: state.renders.firstIndex { $0.isPaused && !$0.isRequeued }
                case .requeue: state.renders.lastIndex { !$0.isRequeued }
                }
            guard let index else { return nil }
            switch step {
            case .pause:
                state.renders[index].isPaused = true
                state.renders[index].child.pause()
            case .resume:
                state.renders[index].isPaused = false
                state.renders[index].child.resume()
            case .requeue:
                state.renders[index].isRequeued = true
                state.renders[index].child.kill(because: .cancelled)
            }
            return state.renders[index]
        }
    }
}

/// What ends a job's work when its render was killed because memory is short: the job is handed back.
struct RenderRequeued: Error {}
