import ArgumentParser
import Edits
import FoundationEssentials
import Library
import Logging
import Operations
import Telemetry

struct LibraryCopyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copies a library between folders and buckets.",
        discussion: """
            Copies originals, all kept versions with their renditions, drafts and pointers; provenances keep their bytes. Files that the copy \
            has already are compared and skipped, so the same command finishes an interrupted copy. Workers may \
            continue meanwhile: copy once, pause the queue, wait for its jobs, and copy again.

            The last step of each asset makes it current at the copy. An asset that was edited at the copy, and one with \
            a file that differs from its record, are reported and stay as they are there; the command then ends with 1. \
            Do not run minilab gc on either library until the copy is complete.

            Example:
              minilab library copy /srv/photos 's3://photos/lab?endpoint=https://s3.example'
            """)

    /// The ways to verify a copy.
    enum Check: String, ExpressibleByArgument {
        case bytes
    }

    @Argument(help: "The library: its folder, or s3://bucket/prefix?endpoint=…") var from: String
    @Argument(
        help: "The copy: a folder, or s3://bucket/prefix?endpoint=…; made if it does not exist.")
    var to: String
    @Option(help: "The folder or URL of the originals, when it is not FROM/originals.")
    var fromOriginals: String?
    @Option(help: "The folder or URL for the originals, when it is not TO/originals.")
    var toOriginals: String?
    @Flag(help: "Leave originals where they are.") var noOriginals = false
    @Flag(help: "Copy no renditions; they can be made again at the copy.")
    var withoutRenditions = false
    @Option(help: "bytes: read everything back from the copy before it becomes current.")
    var verify: Check?
    @Option(help: "The profile of the AWS credentials file for FROM.") var fromProfile: String?
    @Option(help: "The profile of the AWS credentials file for TO.") var toProfile: String?
    @Option(Settings.scratch) var scratch: FlagValue?
    @Option(help: "A JSON file of settings, such as the workers'.") var settings: String?
    @Flag(help: "Print one JSON object per line: each asset, then the sum.") var json = false

    func run() async throws {
        let (source, logger) = try read(from, fromOriginals, fromProfile)
        let (target, _) = try read(to, toOriginals, toProfile)
        let from = try await OpenStore.open(source, for: .reading, logger)
        do {
            let to = try await OpenStore.open(target, for: .creating, logger)
            do {
                try await copy(from, to)
                await to.close()
            } catch {
                await to.close()
                throw error
            }
            await from.close()
        } catch {
            await from.close()
            throw error
        }
    }

    /// Reads the settings of one library. Each of the two has its own flags; the environment and the settings file
    /// describe neither.
    private func read(
        _ location: String, _ originals: String?, _ profile: String?
    ) throws -> (LibraryLocation, Logger) {
        let given = [
            FlagValue(Settings.library, location),
            originals.map { FlagValue(Settings.originals, $0) },
            profile.map { FlagValue(Settings.s3Profile, $0) }, scratch,
        ]
        let (location, _, logger) = try LibraryOptions.read(
            given.compactMap(\.self), file: settings,
            onlyFlags: [Settings.library.key, Settings.originals.key])
        return (location, logger)
    }

    private func copy(_ from: OpenStore, _ to: OpenStore) async throws {
        var options = LibraryCopy.Options()
        options.copiesOriginals = !noOriginals
        options.copiesRenditions = !withoutRenditions
        options.readsBack = verify == .bytes
        let json = json
        let summary = try await LibraryCopy(from: from.library, to: to.library, options).run {
            asset throws(Failure) in
            Self.printResult(asset, json: json)
        }
        if json { try printJSON(summary, pretty: false) } else { print(summary.line) }
        if summary.refused > 0 { throw ExitCode.failure }
    }

    private static func printResult(_ asset: CopiedAsset, json: Bool) {
        // A copy takes hours, so the reader of a pipe must see its progress.
        defer { fflushStandardOutput() }
        if json {
            do { try printJSON(Line(asset), pretty: false) } catch {
                StandardError.write("\(asset.asset): cannot be written as JSON: \(error)")
            }
            return
        }
        switch asset.result {
        case .refused(let failure): StandardError.write("\(asset.asset): \(failure)")
        case .copied(let copied):
            guard copied.tally.filesCopied > 0 else { return }
            print(
                "\(asset.asset): \(counted(copied.versions, "version")), "
                    + "\(counted(copied.tally.filesCopied, "file")) (\(counted(copied.tally.bytesCopied, "byte")))"
            )
        }
    }
}

private struct Line: Encodable {
    let asset: String
    var versions: Int?
    var tally: CopyTally?
    var refused: Failure?

    init(_ asset: CopiedAsset) {
        self.asset = asset.asset
        switch asset.result {
        case .copied(let copied): (versions, tally) = (copied.versions, copied.tally)
        case .refused(let failure): refused = failure
        }
    }
}

extension CopySummary {
    fileprivate var line: String {
        "copied: \(counted(assets, "asset")), \(counted(versions, "version")), "
            + "\(counted(tally.filesCopied, "file")), \(counted(tally.bytesCopied, "byte")); there already: "
            + "\(counted(tally.filesSkipped, "file")), \(counted(tally.bytesSkipped, "byte")); refused: \(refused)"
    }
}
