import Dispatch
import Glibc
import ServiceLifecycle

/// A service that returns when standard input reaches its end: the process that started this one has exited, for any
/// reason.
///
/// The kernel's signal for this (`PR_SET_PDEATHSIG`) follows the thread that started the process, not the process.
struct EndOfInput: Service {
    func run() async {
        let (ends, ended) = AsyncStream<Never>.makeStream()
        let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO)
        source.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 512)
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            // The bytes are ignored. An input that cannot be read counts as closed, unless the call was interrupted.
            if count == 0 || count < 0 && errno != EINTR && errno != EAGAIN { ended.finish() }
        }
        source.activate()
        await cancelWhenGracefulShutdown { for await _ in ends {} }
        source.cancel()
    }
}
