public import ArgumentParser
import Edits
import FoundationEssentials
public import Library
import Operations
import Telemetry

extension Retention.KeptRenditions: ExpressibleByArgument {}

struct CollectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gc",
        abstract: "Removes old versions and prints the bytes freed.",
        discussion: """
            The current version and the draft always stay, and so does each version that --keep or --days keeps. \
            Undo and redo cannot reach removed versions. The renditions of a version go with it. With \
            --renditions-keep current, those of versions that are not current go, too, and can be made again: a job with \
            {"mode":"undo","remake":true} does. It is safe beside running workers and after a crash.

            Example:
              minilab gc --library /srv/photos --keep 5 --days 30 --dry-run
            """)

    @Argument(help: "Assets; without any: all that have an edit.") var assets: [String] = []
    @Option(help: "Versions of each asset to keep, the newest first and the current one counted.")
    var keep = Retention.standard.versions
    @Option(help: "Also keep versions that are younger than this many days; 0: none for their age.")
    var days = Int((Retention.standard.age ?? 0) / day)
    @Option(
        help:
            "The versions whose renditions are kept: all, or current; those of others go a day after."
    )
    var renditionsKeep = Retention.KeptRenditions.all
    @Flag(help: "Remove nothing; list the versions that would be removed.") var dryRun = false
    @OptionGroup var options: LibraryOptions
    @Flag(help: "Print one JSON object per line.") var json = false

    private static let day: TimeInterval = 24 * 3600
    private static let keepRange = 1...1_000_000
    private static let daysRange = 0...36_500

    private struct Line: Encodable {
        let asset: AssetPath
        let isDryRun: Bool
        let collected: Collected
    }

    func validate() throws {
        try Self.keepRange.check(keep, "--keep")
        try Self.daysRange.check(days, "--days")
    }

    func run() async throws { try await options.withLibrary(run) }

    private func run(_ open: OpenLibrary) async throws {
        let rule = Retention(
            versions: keep, age: days == 0 ? nil : TimeInterval(days) * Self.day,
            renditions: renditionsKeep)
        var (count, bytes) = (0, 0)
        defer {
            if !json {
                print(
                    "\(dryRun ? "would go" : "gone"): \(counted(count, "version")), "
                        + counted(bytes, "byte"))
            }
        }
        try await open.forEach(assets, of: .stored) { asset in
            if !assets.isEmpty { _ = try await open.library.versions(of: asset) }
            let collected = try await open.library.collect(
                asset, keeping: rule, now: open.library.clock, isDryRun: dryRun)
            for (version, why) in collected.undeleted.sorted(by: { $0.key < $1.key }) {
                StandardError.write("\(asset): \(version) is still in the store: \(why)")
            }
            let names = collected.versions + collected.orphans
            guard !names.isEmpty || !collected.renditions.isEmpty || collected.bytes > 0 else {
                return
            }
            count += names.count
            bytes += collected.bytes
            if json {
                try printJSON(
                    Line(asset: asset, isDryRun: dryRun, collected: collected), pretty: false)
            } else {
                let parts = names + collected.renditions.map { "renditions of \($0)" }
                print("\(asset): \(parts.joined(separator: ", ")) (\(collected.bytes) bytes)")
            }
        }
        if !dryRun, assets.isEmpty {
            try await open.library.removeUnusedRenderRecords()
            try await open.library.removeOldMovieParts()
            try await open.library.sweepArrivals()
        }
    }
}
