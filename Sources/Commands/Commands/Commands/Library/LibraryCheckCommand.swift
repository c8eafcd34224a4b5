import Edits
import ArgumentParser
import BlobStore
import Files
import FoundationEssentials
import Logging

/// `minilab library check`.
struct LibraryCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks whether workers could use a folder or bucket as library.",
        discussion: """
            In a folder: tries locks, hard links and renames, checks the options of an NFS mount, and removes its files.

            In a bucket: tries the requests of workers and gc, with the keys that they would find here: rights, conditional writes, the \
            clock, the scratch folder; and checks which objects the bucket's own rules remove. Writes and removes one small object, edits/probe-…, and reads no photo.

            Ends with 1 if workers could not work. A missing right of gc alone, and a rule that removes photos, are \
            warnings. Reading the rules needs s3:GetLifecycleConfiguration and s3:GetBucketVersioning, which workers do not need.

            Example:
              minilab library check --library 's3://photos/lab?endpoint=https://s3.example.org'
            """)

    @OptionGroup var options: LibraryOptions
    @Option(Settings.scratch) var scratch: FlagValue?
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
