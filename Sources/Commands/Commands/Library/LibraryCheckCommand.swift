import ArgumentParser
import BlobStore
import Edits
import Files
import FoundationEssentials
import Glibc
import Library
import Logging
import SystemPackage

struct LibraryCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks whether workers could use a folder or bucket as library.",
        discussion: """
            In a folder: tries locks, hard links and renames, checks the options of an NFS mount, and removes its files.

            In a bucket: tries the requests of workers and gc, with the keys that they would find here: rights, conditional writes, the \
            clock, the scratch folder; and checks which objects the bucket's own rules remove. Writes and removes one small object, edits/probe-…, and reads no photo.

            Ends with 1 if workers could not work, and with 76, before it writes anything, if a later release wrote the library. A missing right of gc alone, and a rule that removes photos, are \
            warnings. Reading the rules needs s3:GetLifecycleConfiguration and s3:GetBucketVersioning, which workers do not need.

            Example:
              minilab library check --library 's3://photos/lab?endpoint=https://s3.example'
            """)

    @OptionGroup var options: LibraryOptions
    @Option(Settings.scratch) var scratch: FlagValue?
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let (location, _, logger) = try options.read([scratch].compactMap(\.self))
        let findings: [LibraryFinding]
        switch location {
        case .folder(let root, _):
            let identity = try await LibraryFinding.identity { () async throws(Failure) in
                let contents = try await offPool { () throws(Failure) in
                    try LibraryFolder.contents(of: root)
                }
                if case .library = contents { return true } else { return false }
            }
            findings = try await offPool { () throws(Failure) in
                [identity] + FolderCheck(root).run()
            }
        case .bucket(let settings):
            let check = try BucketCheck(settings, logger)
            do {
                findings = try await check.run()
            } catch {
                await check.close()
                throw error
            }
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

/// The checks that try the operations of workers on the file system of a library in a folder.
struct FolderCheck {
    private let files = FileSystem()
    private let root: FilePath
    /// A unique test folder, so that two concurrent checks do not interfere.
    private let probe: FilePath

    init(_ root: FilePath) {
        self.root = root
        probe = root.appending(".minilab-check-\(UUID().uuidString)")
    }

    func run() -> [LibraryFinding] {
        var findings = [
            finding("workers write") { () throws(Failure) in
                try files.makeFolder(probe)
                try files.write(Array("probe".utf8), to: probe.appending("file"))
                try files.sync(probe)
            }
        ]
        guard findings[0].verdict == .ok else { return findings }
        findings += [
            finding("the file system is mounted for many machines") { () throws(Failure) in
                guard let objection = try Mount(of: probe)?.objection else { return }
                throw Failure(.ioFailure, objection)
            },
            finding("locks hold (flock)") { () throws(Failure) in try tryLocks() },
            finding("files share their bytes (hard links)", otherwise: .warning) {
                () throws(Failure) in
                try files.link(probe.appending("file"), at: probe.appending("second"))
                let file = try OpenFile(reading: probe.appending("file").string)
                let second = probe.appending("second")
                guard
                    try FileSystem.describing(
                        "reading the status of", second, file.isAt(second.string))
                else {
                    throw Failure(
                        .ioFailure,
                        "there are none; each version has a copy of what it could share with others, and takes more space."
                    )
                }
            },
            finding("a link takes the place of another (rename)") { () throws(Failure) in
                try files.point(probe.appending("current"), to: "one")
                try files.point(probe.appending("new"), to: "two")
                try files.move(probe.appending("new"), to: probe.appending("current"))
                guard try files.linkTarget(probe.appending("current")) == "two" else {
                    throw Failure(.ioFailure, "it did not. Use another file system.")
                }
            },
            finding("the test files are removed") { () throws(Failure) in try files.remove(probe) },
        ]
        return findings
    }

    private func tryLocks() throws(Failure) {
        let path = probe.appending("lock")
        func open() throws(Failure) -> OpenFile {
            try FileSystem.describing(
                "opening", path, OpenFile(opening: path.string, O_RDWR | O_CREAT))
        }
        let (first, second) = (try open(), try open())
        guard try FileSystem.describing("locking", path, first.lock()) else {
            throw Failure(.ioFailure, "a file without an open descriptor cannot be locked.")
        }
        guard try !FileSystem.describing("locking", path, second.lock()) else {
            throw Failure(
                .ioFailure,
                "two have one lock: edits would be lost. Use another file system, or mount it with locks."
            )
        }
        withExtendedLifetime(first) {}
    }

    private func finding(
        _ check: String, otherwise verdict: LibraryFinding.Verdict = .failed,
        _ body: () throws(Failure) -> Void
    ) -> LibraryFinding {
        do throws(Failure) {
            try body()
            return LibraryFinding(check: check, verdict: .ok, sentence: nil)
        } catch {
            return LibraryFinding(check: check, verdict: verdict, sentence: error.message)
        }
    }
}

struct LibraryFinding: Encodable {
    enum Verdict: String, Encodable {
        case ok
        /// The check passed; something could be better or could not be determined.
        case note
        /// Workers can use the library, but something else fails.
        case warning
        case failed
    }

    let check: String
    let verdict: Verdict
    let sentence: String?

    var line: String {
        "\(verdict.rawValue): \(check)" + (sentence.map { ": " + $0 } ?? "")
    }
}

extension LibraryFinding {
    /// The finding about `library.json`. It comes before all that write: what a later release wrote is left alone.
    ///
    /// - Parameter isThere: reads the identity of the library.
    /// - Throws: `laterFormat`.
    static func identity(
        _ isThere: () async throws(Failure) -> Bool
    ) async throws(Failure) -> LibraryFinding {
        let check = "this release knows the library"
        do throws(Failure) {
            guard try await !isThere() else {
                return LibraryFinding(check: check, verdict: .ok, sentence: nil)
            }
            return LibraryFinding(
                check: check, verdict: .note,
                sentence: "it has no library.json yet: minilab library create makes it.")
        } catch {
            guard error.code != .laterFormat else { throw error }
            return LibraryFinding(check: check, verdict: .failed, sentence: error.message)
        }
    }
}
