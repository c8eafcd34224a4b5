import ArgumentParser
import Edits
import JobQueue
import Logging
import RenderPool
import RenderProtocol
import Worker

struct VersionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "Shows the version, and whether each format works.",
        discussion: """
            With --libraries, a render child writes and reads a picture of 64 × 64 pixels in each format, as \
            each worker does when it starts. Ends with 1 if a format does not work. JSON also has the numbers by which \
            releases tell what they may read of each other: render, jobFormat, queueFormat and queueLeast.

            Examples:
              minilab version --libraries
              minilab version --json
            """)

    @Flag(help: "Show the libraries, and try each format.") var libraries = false
    @Flag(help: "Print JSON.") var json = false

    private struct Report: Encodable {
        let version: String
        /// The commit that the program was built from; nil for one that `ops/release` has not built.
        let commit = Engine.commit
        /// The number of all pixels and bytes that are ours, as in provenances.
        let render = Engine.render
        /// The latest format of a job's record that its workers know.
        let jobFormat = JobRecord.formatKnown
        /// The latest format of a queue that it knows, and that it writes once no worker of an earlier one is left.
        let queueFormat = QueueFormat.own.known
        /// The lowest format of a queue that programs beside it must know from then on.
        let queueLeast = QueueFormat.own.least
        /// The instructions that the renderer uses.
        var kernels: String?
        var libraries: [LibraryVersion]?
        /// The reason for which each format does not work; null if it works.
        var formats: [String: String?]?
    }

    func run() async throws {
        guard libraries else {
            return json
                ? try printJSON(Report(version: Engine.version)) : print(Engine.versionLine)
        }
        var reader = SettingsReader(try SettingsSource())
        var settings = WorkerSettings(&reader)
        let logger = makeLogger(&reader, defaultLevel: .warning)
        try reader.finish()
        try settings.rendering.boundMemory()
        let pool = RenderPool(settings: settings.rendering, logger: logger)
        let (found, gaps): ([LibraryVersion], FormatGaps)
        do {
            (found, gaps) = (try await pool.libraries(), await pool.tryFormats())
        } catch {
            await pool.close()
            throw error
        }
        await pool.close()
        let kernels = RenderProgram.kernels(of: settings.rendering.executable)
        if json {
            try printJSON(
                Report(
                    version: Engine.version, kernels: kernels, libraries: found,
                    formats: Dictionary(
                        uniqueKeysWithValues: Recipe.Format.photos.map {
                            ($0.rawValue, gaps.reasons[$0])
                        })))
        } else {
            show(kernels, found, gaps)
        }
        if !gaps.reasons.isEmpty { throw ExitCode.failure }
    }

    private func show(_ kernels: String, _ libraries: [LibraryVersion], _ gaps: FormatGaps) {
        var versions = TextTable([Engine.versionLine, ""])
        versions.add(["kernels", kernels])
        for library in libraries { versions.add([library.name, library.version]) }
        var formats = TextTable(["format", "written and read back"])
        for format in Recipe.Format.photos {
            formats.add([format.rawValue, gaps.reasons[format] ?? "yes"])
        }
        print(block: versions.text + "\n\n" + formats.text)
    }
}
