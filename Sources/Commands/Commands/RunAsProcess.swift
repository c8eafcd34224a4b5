package import ArgumentParser
import Glibc
import Telemetry

extension AsyncParsableCommand {
    /// Runs the command that the process's arguments name, and exits.
    package static func runAsProcess() async {
        // A closed peer must be an error of the write and not kill the process.
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

    /// Exits as Argument Parser does, but escapes control characters in the message.
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
