import Logging
import Synchronization

/// The running renders, the oldest first. A render is listed from a job's first pixel until its child is returned.
final class RunningRenders: Sendable {
    /// A running render.
    struct Render: Sendable {
        /// Its number, which increases from each render to the next.
        let number: Int
        let process: RenderProcess
        /// The metadata that the logger adds to lines of its task, such as its job.
        let metadata: Logger.Metadata
        /// Whether it is paused.
        fileprivate(set) var isPaused = false
        /// Whether it was killed in order to return its job.
        fileprivate(set) var isRequeued = false
    }

    private struct State {
        var next = 0
        var renders: [Render] = []
    }

    private let state = Mutex(State())

    /// The numbers of running and of paused renders.
    var counts: (running: Int, paused: Int) {
        state.withLock { state in
            let paused = state.renders.count { $0.isPaused && !$0.isRequeued }
            return (state.renders.count { !$0.isRequeued } - paused, paused)
        }
    }

    /// Adds a render.
    ///
    /// - Returns: the number of the render.
    func begin(_ process: RenderProcess, _ metadata: Logger.Metadata) -> Int {
        state.withLock { state in
            state.next += 1
            state.renders.append(
                Render(number: state.next, process: process, metadata: metadata))
            return state.next
        }
    }

    /// Removes a render that has ended for any reason. Its child may be used again.
    ///
    /// - Returns: whether it was killed in order to return its job.
    func end(_ number: Int) -> Bool {
        state.withLock { state in
            guard let index = state.renders.firstIndex(where: { $0.number == number }) else {
                return false
            }
            let render = state.renders.remove(at: index)
            if render.isPaused { render.process.resume() }
            return render.isRequeued
        }
    }

    /// Applies a step.
    ///
    /// - Returns: the render to which it was applied; nil if there is none any more.
    func apply(_ step: PressureAction) -> Render? {
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
                state.renders[index].process.pause()
            case .resume:
                state.renders[index].isPaused = false
                state.renders[index].process.resume()
            case .requeue:
                state.renders[index].isRequeued = true
                state.renders[index].process.kill(because: .cancelled)
            }
            return state.renders[index]
        }
    }
}

/// The error of a render that was killed because memory is short. It can be rendered later, or elsewhere.
package struct RenderRequeued: Error {
    package init() {}
}
