import Foundation
import Synchronization

/// A thread that lives as long as the process.
///
/// The kernel kills a confined child with the thread that started it (PR_SET_PDEATHSIG), and those on which tests run
/// end when there is nothing for them to do.
final class LastingThread: Sendable {
    static let shared = LastingThread()

    private let work = Mutex<[@Sendable () -> Void]>([])
    private let ready = DispatchSemaphore(value: 0)

    private init() {
        Thread.detachNewThread { [self] in
            while true {
                ready.wait()
                work.withLock { $0.removeFirst() }()
            }
        }
    }

    /// Does something there and waits for it.
    func run(_ body: @escaping @Sendable () throws -> Void) throws {
        let done = DispatchSemaphore(value: 0)
        let result = Mutex<Result<Void, any Error>>(.success(()))
        work.withLock { work in
            work.append {
                let made = Result { try body() }
                result.withLock { $0 = made }
                done.signal()
            }
        }
        ready.signal()
        done.wait()
        try result.withLock { $0 }.get()
    }
}
