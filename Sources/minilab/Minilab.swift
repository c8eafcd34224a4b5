package import ArgumentParser
import Glibc
import RenderProtocol
import Telemetry

/// The command line.
package struct Minilab: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "minilab",
        abstract: "Renders photo edits in bulk and keeps them as data that can be changed later.",
        discussion: """
            A service adds a job to a queue in Redis, a worker renders the photo at full size, \
            publishes it beside its adjustment data and sends an event.

            Try it:  minilab run jobs/quickstart.ndjson
            """,
        version: Engine.name,
        subcommands: [
            RunCommand.self, WorkerCommand.self, RenderCommand.self, PlanCommand.self,
            PreviewCommand.self, ContactCommand.self, FiltersCommand.self, EditorsCommand.self,
            EnqueueCommand.self, StatusCommand.self, TopCommand.self, ExplainCommand.self,
            BatchCommand.self,
            CancelCommand.self, PauseCommand.self, ResumeCommand.self, LimitCommand.self,
            EventsCommand.self, DeadCommand.self, ReplayCommand.self, DoctorCommand.self,
            AssetsCommand.self, HistoryCommand.self, ShowCommand.self,
            DiffCommand.self, ExportCommand.self, VerifyCommand.self, CollectCommand.self,
            LibraryCommand.self, KeyCommand.self, VersionCommand.self,
        ])

    package init() {}

    /// Runs the command that the process' arguments name.
    package static func main() async {
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
