import Files
import Glibc
import RenderProtocol
import Synchronization
import SystemPackage

/// Ends the process when the worker is gone while a photo is being rendered.
///
/// A worker that is killed cannot tell its children, but the kernel closes its end of our standard
/// input. A thread waits for that (`POLLHUP`), so that it works at any moment, also deep in an encoder.
final class OrphanWatch: Sendable {
    private struct State {
        var isBusy = false
        var isOrphan = false
    }
    private let state = Mutex(State())

    /// Starts the thread; it lives as long as the process.
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
        // Without the thread a render of a dead worker runs to its end, and nothing else is wrong.
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
            return  // as without the thread
        }
        guard descriptor.revents & Int16(POLLHUP) != 0 else { return }
        let isBusy = state.withLock { state in
            state.isOrphan = true
            return state.isBusy
        }
        if isBusy { _exit(RenderExit.orphaned.rawValue) }
    }

    /// Does the work of one request; does not return when the worker is gone.
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
