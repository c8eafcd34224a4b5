import Files
import Glibc
import RenderProtocol
import Synchronization
import SystemPackage

/// Ends the process if the worker dies while a photo is being rendered.
///
/// A killed worker cannot notify its children, but the kernel closes its end of the child's standard input. A thread waits for that
/// (`POLLHUP`), so the check works at any moment, also deep in an encoder.
final class OrphanWatch: Sendable {
    private struct State {
        var isBusy = false
        var isOrphan = false
    }
    private let state = Mutex(State())

    /// Starts the thread, which lives as long as the process.
    func start() {
        let box = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<OrphanWatch>.fromOpaque(context).takeRetainedValue().wait()
                return nil
            }, box.toOpaque())
        // Without the thread, a render for a dead worker only runs to its end.
        guard result == 0 else {
            box.release()
            return
        }
        pthread_detach(thread)
    }

    private func wait() {
        var descriptor = pollfd(fd: STDIN_FILENO, events: 0, revents: 0)
        do throws(Errno) {
            try Descriptor.uninterrupted { poll(&descriptor, 1, -1) }
        } catch {
            return  // the same as without the thread
        }
        guard descriptor.revents & Int16(POLLHUP) != 0 else { return }
        let isBusy = state.withLock { state in
            state.isOrphan = true
            return state.isBusy
        }
        if isBusy { _exit(RenderExit.orphaned.rawValue) }
    }

    /// Runs the work of one request. Does not return if the worker dies.
    func watching<Result>(_ work: () -> Result) -> Result {
        let isOrphan = state.withLock { state in
            state.isBusy = true
            return state.isOrphan
        }
        if isOrphan { _exit(RenderExit.orphaned.rawValue) }
        defer { state.withLock { $0.isBusy = false } }
        return work()
    }
}
