import Glibc

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

    /// Runs the body under the lock.
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
