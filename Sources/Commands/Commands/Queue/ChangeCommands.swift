import ArgumentParser
import Edits
import JobQueue
import Operations

/// The arguments of the commands that send one change of assets, each as a job of its own.
struct ChangeOptions: ParsableArguments {
    @Argument(help: "Assets: paths of photos below the library's originals.") var assets: [String]
    @Flag(help: ArgumentHelp(JobWaiting.help)) var wait = false
    @OptionGroup var scheduling: SchedulingOptions
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    /// Sends a job for each asset, and prints the jobs' ids or, with `--wait`, what became of them.
    func send(_ mode: Edit.Mode) async throws {
        let scheduling = try scheduling.scheduling()
        let requests = try assets.map {
            JobRequest(
                id: nil, asset: try AssetPath($0), edit: Edit(mode), fields: nil,
                scheduling: scheduling)
        }
        let sender = JobWaiting(isWaited: wait, json: json)
        try await queueOptions.withQueue { queue, _ in try await sender.send(requests, to: queue) }
    }

    /// Refuses a version that is given for several assets: each asset has names of its own.
    func check(_ version: String?) throws {
        guard version == nil || assets.count == 1 else {
            throw ValidationError("--version is of one asset; \(assets.count) are given.")
        }
    }
}

struct UndoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Makes the version before the last edit current again.",
        discussion: """
            Sends a job in the mode undo for each asset, and prints the jobs' ids. No pixel is computed.

            Example:
              minilab undo IMG_0001.JPG --wait
            """)

    @OptionGroup var change: ChangeOptions

    func run() async throws { try await change.send(.undo) }
}

struct RedoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo",
        abstract: "Makes the version that undo took away current again.",
        discussion: """
            Sends a job in the mode redo for each asset, and prints the jobs' ids. No pixel is computed.

            Example:
              minilab redo IMG_0001.JPG --wait
            """)

    @OptionGroup var change: ChangeOptions

    func run() async throws { try await change.send(.redo) }
}

struct RevertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revert",
        abstract: "Makes the original current again.",
        discussion: """
            Sends a job in the mode revert for each asset, and prints the jobs' ids. The edits stay in the asset's \
            history; minilab undo takes a revert back.

            Example:
              minilab revert IMG_0001.JPG --wait
            """)

    @OptionGroup var change: ChangeOptions

    func run() async throws { try await change.send(.revert) }
}

struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Makes the draft of an asset current.",
        discussion: """
            Sends a job in the mode publish for each asset, and prints the jobs' ids. With --version, the job fails \
            if the draft is another one by then.

            Example:
              minilab publish IMG_0001.JPG --wait
            """)

    @OptionGroup var change: ChangeOptions
    @Option(help: "The version that the draft must have, as minilab show names it.")
    var version: String?

    func validate() throws { try change.check(version) }

    func run() async throws { try await change.send(.publish(version: version)) }
}

struct DiscardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Removes the draft of an asset.",
        discussion: """
            Sends a job in the mode discard for each asset, and prints the jobs' ids. With --version, the job fails \
            if the draft is another one by then.

            Example:
              minilab discard IMG_0001.JPG --wait
            """)

    @OptionGroup var change: ChangeOptions
    @Option(help: "The version that the draft must have, as minilab show names it.")
    var version: String?

    func validate() throws { try change.check(version) }

    func run() async throws { try await change.send(.discard(version: version)) }
}
