import Dispatch
import Glibc
import ServiceLifecycle

/// Returns when the other end of standard input is closed: the process that started this one has ended, in whatever way.
///
/// The kernel's own signal for that (`PR_SET_PDEATHSIG`) follows the thread that started a process, not the process.
struct EndOfInput: Service {
    func run() async {
        let (ends, ended) = AsyncStream<Never>.makeStream()
        let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO)
        source.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 512)
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            // Bytes mean nothing here. An input that cannot be read is as good as ended, unless the call was only cut short.
            if count == 0 || count < 0 && errno != EINTR && errno != EAGAIN { ended.finish() }
        }
        source.activate()
        await cancelWhenGracefulShutdown { for await _ in ends {} }
        source.cancel()
    }
}
