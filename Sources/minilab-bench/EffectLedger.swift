import Glibc
import JobQueue
import Logging

/// What jobs have published, in a folder that outlives their workers: one effect per job and generation.
///
/// An effect is a symbolic link `<job>.<generation>` whose target is the version: made whole and
/// exclusively by one system call, so that no crash leaves half of one and no second version takes its
/// place. `log` has a line per publication, also of those that found an effect in place:
/// `<outcome> <job> <generation> <version> <worker>`.
struct EffectLedger: Sendable {
    /// What became of an effect that was to be published.
    enum Outcome: String {
        /// It is there now.
        case published
        /// It was published before, as this version: by us ahead of a crash, or by whoever carried on.
        case repeated
        /// Another version was published: two workers were let through.
        case conflict
    }

    /// The folder.
    let folder: String
    private let worker: String
    private let log: CInt

    /// Opens the ledger in a folder that is there; its file stays open as long as the process.
    init(folder: String, worker: String) throws {
        log = open(folder + "/log", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard log >= 0 else { throw LedgerError(call: "open", path: folder + "/log") }
        self.folder = folder
        self.worker = worker
    }

    /// Publishes an effect, once however often it is called.
    func publish(job: String, generation: Int, version: String) throws(LedgerError) -> Outcome {
        var outcome = Outcome.published
        if symlink(version, path(job, generation)) != 0 {
            guard errno == EEXIST else {
                throw LedgerError(call: "symlink", path: path(job, generation))
            }
            outcome = try self.version(of: job, generation) == version ? .repeated : .conflict
        }
        try note(outcome.rawValue, job, generation, version)
        return outcome
    }

    /// The version that a job's generation has published, or nil when it has published none.
    func version(of job: String, _ generation: Int) throws(LedgerError) -> String? {
        var target = [CChar](repeating: 0, count: Self.versionBytesMax)
        let count = readlink(path(job, generation), &target, target.count)
        if count < 0 {
            guard errno == ENOENT else {
                throw LedgerError(call: "readlink", path: path(job, generation))
            }
            return nil
        }
        return String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Writes a line to the log; one `write`, so that lines of several processes do not mix.
    func note(
        _ word: String, _ job: String, _ generation: Int, _ version: String
    ) throws(LedgerError) {
        let line = Array("\(word) \(job) \(generation) \(version) \(worker)\n".utf8)
        guard write(log, line, line.count) == line.count else {
            throw LedgerError(call: "write", path: folder + "/log")
        }
    }

    /// Notes that a worker was refused, with the fence that it had; of which generation its job was it does not say.
    func noteRefusal(of job: LoggedJob, _ logger: Logger) {
        do {
            try note("fenced", job.job, 0, "-\(job.fence)")
        } catch {
            logger.error("not noted", metadata: ["error": "\(error)"])
        }
    }

    private func path(_ job: String, _ generation: Int) -> String {
        "\(folder)/\(job).\(generation)"
    }

    /// A version is a revision and a fence: two numbers.
    private static let versionBytesMax = 64
}

/// A system call on the ledger failed.
struct LedgerError: Error, CustomStringConvertible {
    let description: String

    /// Reads `errno`.
    init(call: String, path: String) {
        description = "\(call) \(path): \(String(cString: strerror(errno)))"
    }
}
