import Adjustments
import ArgumentParser
import BlobStore
import Files
import FoundationEssentials
import Logging

/// `minilab library check`.
struct LibraryCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Says whether workers could use the place of a library.",
        discussion: """
            In a folder: tries locks, hard links and renames, looks how an NFS is mounted, and removes what it made.

            In a bucket: tries what workers and gc do, with the keys that they would find here: rights, the store's conditions, its \
            clock, the scratch folder; and what the bucket's own rules remove. Writes and removes one small object, edits/probe-…, and reads no photo.

            Ends with 1 if workers could not work; what gc alone needs, and a rule that removes photos, is a \
            warning. Seeing the rules takes s3:GetLifecycleConfiguration and s3:GetBucketVersioning, which workers do not need.

            Example:
              minilab library check --library 's3://photos/lab?endpoint=https://s3.example.org'
            """)

    @OptionGroup var options: LibraryOptions
    @Option(Settings.scratch) var scratch: GivenSetting?
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let (location, _, logger) = try options.read([scratch].compactMap(\.self))
        let findings: [LibraryFinding]
        switch location {
        case .folder(let root, _):
            findings = try await offPool { () throws(Failure) in FolderCheck(root).run() }
        case .bucket(let settings):
            let check = try BucketCheck(settings, logger)
            findings = await check.run()
            await check.close()
        }
        if json {
            try printJSON(findings)
        } else {
            for finding in findings { print(finding.line) }
        }
        if findings.contains(where: { $0.verdict == .failed }) { throw ExitCode.failure }
    }
}
