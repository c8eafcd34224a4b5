package import ArgumentParser
import Glibc
import Telemetry

extension AsyncParsableCommand {
    /// Runs the command that the process' arguments name, and ends the process.
    package static func runAsProcess() async {
        // A peer that goes away must be an error of the write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try await asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            end(error)
        }
    }

    /// Ends as Argument Parser would, with what strangers' names do to a terminal escaped.
    private static func end(_ error: any Error) -> Never {
        let text = fullMessage(for: error)
        let code = exitCode(for: error)
        if !text.isEmpty {
            if code.isSuccess { print(block: text) } else { StandardError.write(block: text) }
        }
        fflushStandardOutput()
        Glibc.exit(code.rawValue)
    }
}
