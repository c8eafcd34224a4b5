package import ArgumentParser
import Edits
import Glibc
import JobQueue
import RenderProtocol
import Telemetry
import UnixSignals

package struct Minilab: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "minilab",
        abstract: "Renders photo edits in bulk, kept as data that can be changed later.",
        discussion: "Try it:  minilab run jobs/quickstart.ndjson",
        version: Engine.versionLine,
        // `--help` says each in one line: an abstract has at most 54 characters.
        groupedSubcommands: [
            CommandGroup(
                name: "Photo",
                subcommands: [
                    RunCommand.self, RenderCommand.self, PreviewCommand.self, ContactCommand.self,
                    PlanCommand.self, FiltersCommand.self, EditorsCommand.self,
                ]),
            CommandGroup(
                name: "Service",
                subcommands: [
                    WorkerCommand.self, GatewayLauncher.self, KeyCommand.self,
                    VersionCommand.self,
                ]),
            CommandGroup(
                name: "Job",
                subcommands: [
                    EnqueueCommand.self, UndoCommand.self, RedoCommand.self,
                    RevertCommand.self, PublishCommand.self, DiscardCommand.self,
                    StatusCommand.self, ExplainCommand.self, BatchCommand.self,
                    EventsCommand.self, CancelCommand.self,
                ]),
            CommandGroup(
                name: "Queue",
                subcommands: [
                    TopCommand.self, DeadCommand.self, ReplayCommand.self, PauseCommand.self,
                    ResumeCommand.self, LimitCommand.self, DoctorCommand.self,
                ]),
            CommandGroup(
                name: "Library",
                subcommands: [
                    AssetsCommand.self, HistoryCommand.self, ShowCommand.self, DiffCommand.self,
                    SizesCommand.self, ExportCommand.self, VerifyCommand.self,
                    CollectCommand.self, LibraryCommand.self,
                ]),
        ])

    package init() {}

    package static func main() async { await runAsProcess() }
}

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
        } catch let error as ValidationError {
            // Of a command whose flags have been read. Argument Parser would add the usage of the whole program, which does not
            // mention the flag that is wrong.
            StandardError.write(block: "Error: \(error.message)")
            end(ExitCode.validationFailure)
        } catch {
            end(error)
        }
    }

    /// Exits as Argument Parser does, but escapes control characters in the message.
    private static func end(_ error: any Error) -> Never {
        let text = fullMessage(for: error)
        let code = ExitCode.isOfLaterRelease(error) ? .laterRelease : exitCode(for: error)
        if !text.isEmpty {
            if code.isSuccess { print(block: text) } else { StandardError.write(block: text) }
        }
        fflushStandardOutput()
        Glibc.exit(code.rawValue)
    }
}

extension ExitCode {
    /// The queue or the library is of a later release, and was left alone: EX_PROTOCOL of sysexits.h. systemd does not start the
    /// program again.
    package static let laterRelease = ExitCode(76)

    static func isOfLaterRelease(_ error: any Error) -> Bool {
        (error as? Failure)?.code == .laterFormat || (error as? QueueError)?.code == .laterFormat
    }
}

/// An error of a command that was written correctly and cannot be carried out. It ends with 1 and its sentence, without the usage.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

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
