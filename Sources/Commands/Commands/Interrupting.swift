import ArgumentParser
import UnixSignals

/// Runs a body and cancels it when the command receives SIGINT (Ctrl-C) or SIGTERM, so that it can clean up.
///
/// - Throws: the error of the body; the shell's exit code for the signal, once the body has returned.
func interruptible<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        group.addTask {
            for await signal in signals {
                // Shells add 128 to a signal's number (POSIX, "Exit Status for Commands").
                throw ExitCode(128 + signal.rawValue)
            }
            return nil
        }
        group.addTask { try await body() }
        while let result = try await group.next() {
            if let result {
                group.cancelAll()
                return result
            }
        }
        throw CancellationError()
    }
}
