import Glibc

/// A thread that waits for one piece of work, runs it, and ends.
final class RowThread {
    private final class Work {
        let monitor = Monitor()
        var body: (() -> Void)?

        func wait() -> () -> Void {
            monitor.locked(when: { body != nil }) {
                defer { body = nil }
                return body ?? {}
            }
        }
    }

    private let thread: pthread_t
    private let work = Work()
    private var isUsed = false
    private var isJoined = false

    /// Starts the thread.
    ///
    /// - Returns: nil if the system cannot start one.
    init?() {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(work)
        let status = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
                work.wait()()
                return nil
            }, context.toOpaque())
        self.thread = thread
        guard status == 0 else {
            context.release()
            (isUsed, isJoined) = (true, true)
            return nil
        }
    }

    deinit {
        if !isUsed { run {} }
        join()
    }

    /// Waits until the work is done.
    func join() {
        guard !isJoined else { return }
        pthread_join(thread, nil)
        isJoined = true
    }

    /// Starts the work; may be called once.
    ///
    /// - Parameter body: the work. Until ``join()``, which `deinit` calls, no other thread may use the body's captures.
    func run(_ body: @escaping () -> Void) {
        isUsed = true
        work.monitor.locked {
            work.body = body
            work.monitor.wake()
        }
    }
}
