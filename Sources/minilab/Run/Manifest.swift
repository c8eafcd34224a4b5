import Adjustments
import FoundationEssentials

/// A file of jobs, one JSON object per line (`jobs/job.schema.json`).
struct Manifest {
    /// The jobs, each with an id: the line's own, or one derived from the line's number and content, so that the same
    /// manifest always has the same ids.
    let jobs: [Job]

    /// One job of a manifest.
    struct Job: Sendable {
        let id: JobID
        let request: JobRequest
    }

    /// The most bytes of a manifest.
    static let bytesMax = 1 << 30

    /// The most faulty lines that are reported; the rest are counted.
    static let problemsMax = 20

    /// Reads a manifest.
    ///
    /// - Throws: ``ManifestError`` with all faulty lines and their numbers.
    init(path: String) throws {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw ManifestError(path: path, problems: ["it cannot be read: \(error)"])
        }
        guard data.count <= Self.bytesMax else {
            throw ManifestError(
                path: path,
                problems: ["it has \(data.count) bytes; at most \(Self.bytesMax) are allowed."])
        }
        try self.init(text: String(decoding: data, as: UTF8.self), path: path)
    }

    init(text: String, path: String) throws(ManifestError) {
        var jobs: [Job] = []
        var problems: [String] = []
        var lineOfID: [JobID: Int] = [:]
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        where line.contains(where: { !$0.isWhitespace }) {
            do throws(Failure) {
                let request = try JobRequest(json: String(line))
                let madeUp = try Self.id(of: request, line: index + 1)
                let id = request.id ?? madeUp
                if let other = lineOfID.updateValue(index + 1, forKey: id) {
                    problems.append("line \(index + 1): id \(id) was used on line \(other) already")
                }
                jobs.append(Job(id: id, request: request))
            } catch {
                problems.append("line \(index + 1): \(error)")
            }
        }
        if jobs.isEmpty && problems.isEmpty { problems.append("it has no jobs") }
        guard problems.isEmpty else { throw ManifestError(path: path, problems: problems) }
        self.jobs = jobs
    }

    private static func id(of request: JobRequest, line: Int) throws(Failure) -> JobID {
        try JobID("line-\(line)-\(request.digest.prefix(16))")
    }
}

/// The faults of a manifest.
struct ManifestError: Error, CustomStringConvertible {
    let path: String
    let problems: [String]

    var description: String {
        let more = problems.count - Manifest.problemsMax
        return "\(path) cannot be run; nothing was enqueued:"
            + problems.prefix(Manifest.problemsMax).map { "\n  - " + $0 }.joined()
            + (more > 0 ? "\n  … and \(more) more" : "")
    }
}
