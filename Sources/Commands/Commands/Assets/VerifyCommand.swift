import ArgumentParser
import Editing
import Edits
import FoundationEssentials
import Library
import Operations
import RenderProtocol
import SystemPackage
import Worker

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compares photos and edits with their records.",
        discussion: """
            Reads every file and compares it with its digest, decodes every edit, and compares every version with \
            its parent. Then it renders the current version again from its input and edit; the result has to be \
            the same to the byte. Of a hundred renditions it makes three again, always the same ones. Prints a line for each fault, and ends with 1 if there is one.

            Every file is compared with its digest. What another release or other libraries have rendered is not \
            rendered again where that may make other bytes: a line for each of them counts the pictures, and is no fault. \
            Of a library of a later release it names the files that it cannot read, leaves them alone, and ends with 76.

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
        var (unsound, later) = (0, 0)
        var others = OtherOrigins()
        try await open.withPool { pool in
            let verifier = AssetVerifier(
                library: open.library, pool: pool, settings: open.settings.editing)
            try await open.forEach(assets) { asset in
                let report = try await verifier.verify(
                    asset, allVersions: allVersions, scratch: scratch.map { FilePath($0.path) },
                    renditions: renditions)
                if !report.isSound { unsound += 1 }
                later += report.later.count
                others.add(report.notRenderedAgain)
                try printResult(report)
            }
        }
        if !json { printCounts(others) }
        if unsound > 0 { throw ExitCode.failure }
        if later > 0 { throw ExitCode.laterRelease }
    }

    private func printCounts(_ others: OtherOrigins) {
        for (origin, count) in others.counts.sorted(by: { $0.key < $1.key }) {
            print(
                "note: \(counted(count.renders, "render")) and \(counted(count.renditions, "rendition")) made by \(origin): not "
                    + "rendered again, because \(Engine.name), render \(Engine.render), may make other bytes here; compared with their "
                    + "digests.")
        }
    }

    private func printResult(_ report: Verification) throws {
        if json { return try printJSON(report, pretty: false) }
        for problem in report.problems {
            print(
                "\(report.asset): \(problem.subject.rawValue) \(problem.path): \(problem.sentence)")
        }
        for found in report.later {
            print(
                "\(report.asset): \(found.subject.rawValue) of a later release: \(found.sentence)")
        }
        for note in report.notes {
            print("\(report.asset): note: \(note.subject.rawValue) \(note.path): \(note.sentence)")
        }
        guard report.isSound, report.later.isEmpty else { return }
        print(
            "\(report.asset): sound; \(counted(report.versions.count, "version")) read, "
                + "\(report.rendersCompared) rendered again"
                + (report.renditionsCompared + report.renditionsSkipped == 0
                    ? ""
                    : ", \(counted(report.renditionsCompared, "rendition")) made again, "
                        + "\(report.renditionsSkipped) skipped"))
    }
}
