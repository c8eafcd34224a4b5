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

/// A two-step pipeline over the parts of a picture, each step on a thread of its own: while one part is used, the next is made.
package enum Handover {
    /// Parts that are made ahead, which is the number of buffers that are needed.
    package static let buffers = RowRing.blocks

    /// Makes and uses parts in their order.
    ///
    /// Without a second thread, both steps run on the caller's thread.
    ///
    /// - Parameters:
    ///   - count: the number of parts.
    ///   - buffers: ``buffers`` of them; the part of number n is made in buffer n modulo their count.
    ///   - make: makes a part, on the other thread.
    ///   - use: uses it, on the caller's thread.
    /// - Throws: the first failure of either; neither runs after that.
    package static func run<Buffer, Problem: Error>(
        _ count: Int, _ buffers: [Buffer],
        make: (Int, Buffer) throws(Problem) -> Void, use: (Int, Buffer) throws(Problem) -> Void
    ) throws(Problem) {
        precondition(buffers.count == Self.buffers, "a part may be made in a buffer that is used")
        guard let thread = RowThread() else {
            for number in 0..<count {
                try make(number, buffers[0])
                try use(number, buffers[0])
            }
            return
        }
        // One byte per row: the ring only records which buffers are full.
        let ring = RowRing(rowBytes: 1, height: count, block: 1, Monitor())
        var failure: Problem?
        var used: Problem?
        withoutActuallyEscaping(make) { make in
            var number = 0
            thread.run {
                while !ring.isComplete, failure == nil, ring.waitForRoom() {
                    do throws(Problem) {
                        try make(number, buffers[number % buffers.count])
                        number += 1
                        ring.append { _ in }
                    } catch {
                        failure = error
                        ring.close()
                    }
                }
            }
            do throws(Problem) {
                for number in 0..<count {
                    guard ring.next() != nil else { break }
                    try use(number, buffers[number % buffers.count])
                    ring.release()
                }
            } catch {
                used = error
            }
            ring.close()
            thread.join()
        }
        if let failure = used ?? failure { throw failure }
    }
}

/// A lock with a condition: a thread waits until another one has changed the state that the lock guards.
///
/// The standard library's `Mutex` has no condition variable.
final class Monitor: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Waits until the condition holds, and runs the body under the lock.
    func locked<Result>(when isTrue: () -> Bool, _ body: () -> Result) -> Result {
        locked {
            while !isTrue() { pthread_cond_wait(condition, mutex) }
            return body()
        }
    }

    /// Wakes all waiting threads, which then check their conditions again.
    func wake() { pthread_cond_broadcast(condition) }
}
