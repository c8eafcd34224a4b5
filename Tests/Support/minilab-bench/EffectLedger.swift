import Glibc
import JobQueue
import Logging

/// The publications of jobs, in a folder that outlives their workers: one effect per job and generation.
///
/// An effect is a symbolic link `<job>.<generation>` whose target is the version. One system call creates it completely
/// and exclusively, so that no crash leaves half of one and no second version replaces it. `log` has a line per
/// publication, including those that found an existing effect: `<outcome> <job> <generation> <version> <worker>`.
struct EffectLedger: Sendable {
    /// The result of a publication.
    enum Outcome: String {
        /// The effect was created.
        case published
        /// The effect existed with this version: this worker published it before a crash, or another worker finished
        /// the publication.
        case repeated
        /// The effect existed with another version: the queue let two workers publish.
        case conflict
    }

    /// The path of the folder.
    let folder: String
    private let worker: String
    private let log: CInt

    /// Opens the ledger in an existing folder; its file stays open until the process exits.
    init(folder: String, worker: String) throws {
        log = open(folder + "/log", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard log >= 0 else { throw LedgerError(call: "open", path: folder + "/log") }
        self.folder = folder
        self.worker = worker
    }

    /// Publishes an effect. Repeated calls have no further effect.
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

    /// Returns the version that a job's generation has published; nil if it has published none.
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

    /// Appends a line to the log with one `write`, so that lines of several processes do not mix.
    func note(
        _ effect: String, _ job: String, _ generation: Int, _ version: String
    ) throws(LedgerError) {
        let line = Array("\(effect) \(job) \(generation) \(version) \(worker)\n".utf8)
        guard write(log, line, line.count) == line.count else {
            throw LedgerError(call: "write", path: folder + "/log")
        }
    }

    /// Records that a worker was refused, with the fence that it had. The generation of its job is unknown.
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

    /// The longest version in bytes. A version consists of two numbers, a revision and a fence.
    private static let versionBytesMax = 64
}

/// The error of a system call on the ledger.
struct LedgerError: Error, CustomStringConvertible {
    let description: String

    /// Creates the error from `errno`.
    init(call: String, path: String) {
        description = "\(call) \(path): \(String(cString: strerror(errno)))"
    }
}
