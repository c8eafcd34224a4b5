import ArgumentParser
import Commands
import Editing
import Edits
import Files
import FoundationEssentials
import Glibc
import Logging
import RenderPool
import RenderProtocol
import Synchronization
import SystemPackage
import Telemetry
import Worker

/// A benchmark that sends untrusted files through real render children, confined as in a worker, for `ops/hostile`.
struct HostileBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hostile",
        abstract: "Gives hostile files to render children, and counts how each child ends.",
        discussion: """
            Takes the files of the folders, harms copies of them by a seed, and inspects and renders each in \
            the pool of children that a worker has. Ends with 1 when one ends as internalError, takes longer \
            than its limits, or a child ends in a way that has no name.

            Example:
              minilab-bench hostile Tests/Fixtures --seed 1 --count 1000
            """)

    @Argument(help: "Folders of files; their subfolders too.") var folders: [String]
    @Option(help: "The seed of all random choices.") var seed: UInt64 = 1
    @Option(help: "How many files are made.") var count = 1_000
    @Flag(help: "Give each file as it is, once, and print how it ended.") var unchanged = false
    @Option(help: "Longest file of the folders that is taken.") var bytesMax = 1 << 20
    @Option(help: "Files at the same time.") var slots = 2
    @Option(help: "A folder where files are kept that ended badly or cost a child its life.")
    var keep: String?
    @OptionGroup var limits: LimitOptions

    /// The longest time of a render. The results are small.
    private static let renderTimeout: Duration = .seconds(30)
    func run() async throws {
        let files = try originals()
        guard !files.isEmpty else {
            throw ValidationError("No file of at most \(bytesMax) bytes in \(folders).")
        }
        var reader = SettingsReader(try SettingsSource(limits.flagValues))
        var settings = WorkerSettings(&reader)
        let logger = makeLogger(&reader, defaultLevel: .error)
        try reader.finish()
        settings.rendering.timeout = Self.renderTimeout

        let folder = try TemporaryFolder(
            beside: FileManager.default.temporaryDirectory.path + "/hostile")
        defer { folder.remove() }
        let tally = HostileTally()
        let pool = RenderPool(
            settings: settings.rendering, logger: logger,
            metrics: RenderMetrics(
                Metrics { metric, _, labels in
                    if metric == "minilab_child_ends_total" { tally.childEnded(labels[0]) }
                }))
        let work = HostileWork(
            files: files, mutation: Mutation(originals: files.map(\.bytes), seed: seed),
            unchanged: unchanged, total: unchanged ? files.count : count, folder: folder.path,
            keep: keep, limits: settings.editing.limits, pool: pool, tally: tally)
        await withTaskGroup { group in
            for slot in 0..<slots { group.addTask { await work.run(slot) } }
        }
        await pool.close()
        print(block: tally.page(work.total))
        guard !tally.isBad else { throw ExitCode(1) }
    }

    /// Returns the regular files, sorted by name.
    private func originals() throws -> [(name: String, bytes: [UInt8])] {
        try folders.flatMap { folder in
            try FileManager.default.subpathsOfDirectory(atPath: folder).sorted().compactMap {
                name in
                let path = folder + "/" + name
                var status = stat()
                guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                    status.st_size <= bytesMax
                else { return nil }
                return (name, [UInt8](try Data(contentsOf: URL(filePath: path))))
            }
        }
    }
}

/// The state that the slots share.
private struct HostileWork: Sendable {
    let files: [(name: String, bytes: [UInt8])]
    let mutation: Mutation
    let unchanged: Bool
    let total: Int
    let folder: String
    let keep: String?
    let limits: RenderLimits
    let pool: RenderPool
    let tally: HostileTally

    /// The longest total time of a file: the limits of inspection and render, and as much time as a busy machine needs
    /// to start a child, kill it, and wait for its exit.
    private static let lateAfter: Duration = .seconds(45)

    /// Processes one file after the other until none is left.
    func run(_ slot: Int) async {
        let path = folder + "/\(slot)"
        while let number = tally.nextNumber(below: total) {
            let (bytes, original) =
                unchanged ? (files[number].bytes, number) : mutation.file(number)
            let name = files[original].name
            Self.write(bytes, to: path)
            let end = await end(of: path, number)
            tally.add(unchanged ? name : "\(number) of \(name)", end)
            // The tab is part of our format: scripts split at it.
            if unchanged { Swift.print("\(end.text)\t\(name.printable)") }
            if end.isBad || end.isDeadly, let keep {
                Self.write(bytes, to: keep + "/\(mutation.seed)-\(number)")
            }
        }
    }

    /// Inspects and renders one file.
    private func end(of path: String, _ number: Int) async -> HostileTally.End {
        let begin = ContinuousClock.now
        func end(_ outcome: String, peak: Int = 0) -> HostileTally.End {
            let duration = ContinuousClock.now - begin
            return .init(
                outcome: duration > Self.lateAfter ? HostileTally.late : outcome,
                duration: duration, peak: peak
            )
        }
        do {
            // The filters alternate, to reach planes, pixels of a reduced copy, and coefficients or a turn.
            let filters = [
                try Filter("CISepiaTone"), try Filter("CIGaussianBlur", ["radius": 3]),
                try Filter("turn", ["degrees": 90]),
            ]
            let files = RenderFiles(
                sources: [try OpenFile(reading: path)],
                outputs: [try .nameless(in: folder, name: "the result")],
                spool: try .nameless(in: folder, name: "the spool"))
            let use = try await pool.render(
                PhotoRequest(
                    recipe: Recipe(filters: [filters[number % 3]]), limits: limits,
                    outputs: [.init(longestSide: number % 3 == 1 ? 256 : nil)]), files,
                for: Borrower(.operator)
            ) { _, use in use }
            return end(HostileTally.picture, peak: use.peakMemoryBytes)
        } catch let failure as Failure {
            return end(failure.code.rawValue)
        } catch {
            return end("no answer: \(error)")
        }
    }

    private static func write(_ bytes: [UInt8], to path: String) {
        do {
            try Data(bytes).write(to: URL(filePath: path))
        } catch {
            fatalError("\(path) cannot be written: \(error)")
        }
    }
}
