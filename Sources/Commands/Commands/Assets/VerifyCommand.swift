import ArgumentParser
import Editing
import Edits
import FoundationEssentials
import Library
import Operations
import SystemPackage
import Worker

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract:
            "Compares photos and edits with their records, and renders again to compare.",
        discussion: """
            Reads every file and compares it with its digest, decodes every edit, and compares every version with \
            its parent. Then it renders the current version again from its input and edit; the result has to be \
            the same to the byte. Of a hundred renditions it makes three again, always the same ones. Prints a line for each fault, and ends with 1 if there is one.

            Example:
              minilab verify --library /srv/photos --no-render
            """)

    @Argument(help: "Assets; without any: all that have an edit.") var assets: [String] = []
    @Flag(help: "Check all versions that are kept, not only the current one and the draft.")
    var allVersions = false
    @Flag(help: "Do not render again.") var noRender = false
    @Option(
        help:
            "Of a hundred renditions, the number to make again and compare: 0 for none, 100 for all."
    )
    var renditions = AssetVerifier.renditionsOfHundred
    @Option(Settings.resources) var resources: FlagValue?
    @OptionGroup var options: LibraryOptions
    @Flag(help: "Print one JSON object per asset.") var json = false

    private static let renditionsRange = 0...100

    func validate() throws { try Self.renditionsRange.check(renditions, "--renditions") }

    func run() async throws {
        try await options.withLibrary(settings: [resources].compactMap(\.self), run)
    }

    private func run(_ open: OpenLibrary) async throws {
        let scratch =
            noRender
            ? nil
            : try TemporaryFolder(
                beside: FileManager.default.temporaryDirectory.path + "/verify")
        defer { scratch?.remove() }
        var unsound = 0
        try await open.withPool { pool in
            let verifier = AssetVerifier(
                library: open.library, pool: pool, settings: open.settings.editing)
            try await open.forEach(assets) { asset in
                let report = try await verifier.verify(
                    asset, allVersions: allVersions, scratch: scratch.map { FilePath($0.path) },
                    renditions: renditions)
                if !report.isSound { unsound += 1 }
                try printResult(report)
            }
        }
        if unsound > 0 { throw ExitCode.failure }
    }

    private func printResult(_ report: Verification) throws {
        if json { return try printJSON(report, pretty: false) }
        for problem in report.problems {
            print(
                "\(report.asset): \(problem.subject.rawValue) \(problem.path): \(problem.sentence)")
        }
        for note in report.notes {
            print("\(report.asset): note: \(note.subject.rawValue) \(note.path): \(note.sentence)")
        }
        guard report.isSound else { return }
        print(
            "\(report.asset): sound; \(counted(report.versions.count, "version")) read, "
                + "\(report.rendersCompared) rendered again"
                + (report.renditionsCompared + report.renditionsSkipped == 0
                    ? ""
                    : ", \(counted(report.renditionsCompared, "rendition")) made again, "
                        + "\(report.renditionsSkipped) skipped"))
    }
}
