package import ArgumentParser
import RenderProtocol

/// The root command.
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
            RunCommand.self, WorkerCommand.self, FleetCommand.self, RenderCommand.self,
            PlanCommand.self,
            PreviewCommand.self, ContactCommand.self, FiltersCommand.self, EditorsCommand.self,
            EnqueueCommand.self, StatusCommand.self, TopCommand.self, ExplainCommand.self,
            BatchCommand.self,
            CancelCommand.self, PauseCommand.self, ResumeCommand.self, LimitCommand.self,
            EventsCommand.self, DeadCommand.self, ReplayCommand.self, DoctorCommand.self,
            AssetsCommand.self, HistoryCommand.self, ShowCommand.self,
            DiffCommand.self, ExportCommand.self, VerifyCommand.self, CollectCommand.self,
            LibraryCommand.self, GatewayLauncher.self, KeyCommand.self, VersionCommand.self,
        ])

    package init() {}

    /// Runs the command that the process's arguments name.
    package static func main() async { await runAsProcess() }
}
