import Edits
import FoundationEssentials
import Operations

/// A file of jobs, one JSON object per line (`jobs/job.schema.json`).
struct Manifest {
    /// The jobs, each with an id: the line's own, or one derived from the line's number and content, so that the same
    /// manifest always has the same ids.
    private(set) var jobs: [Job] = []
    /// The lines that are no jobs. They stop no other line.
    private(set) var refused = RefusedLines()

    /// One job of a manifest.
    struct Job: Sendable {
        let id: JobID
        let request: JobRequest
    }

    /// The most bytes of a manifest.
    static let bytesMax = 1 << 30

    /// The most faulty lines that are named on a terminal; the rest are counted.
    static let problemsMax = 20

    /// Reads a manifest.
    ///
    /// - Throws: ``ManifestError`` if the file cannot be read, or no line of it is a job.
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
        var lineOfID: [JobID: Int] = [:]
        // Lines end at bytes: for Swift, the two bytes of a line end of Windows are one character, which is no "\n".
        let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let number = index + 1
            do throws(Failure) {
                guard let job = try Self.job(line, number) else { continue }
                if let other = lineOfID[job.id] {
                    throw Failure(
                        .invalidValue, "id \(job.id) was used on line \(other) already")
                }
                lineOfID[job.id] = number
                jobs.append(job)
            } catch {
                refused.add(error, line: number)
            }
        }
        guard jobs.isEmpty else { return }
        throw ManifestError(
            path: path,
            problems: refused.isEmpty
                ? ["it has no jobs"] : refused.sentences(atMost: Self.problemsMax))
    }

    /// Reads a line; nil for an empty one.
    private static func job(_ line: Data, _ number: Int) throws(Failure) -> Job? {
        guard let text = String(validating: line, as: UTF8.self) else {
            throw Failure(.invalidValue, "it is not UTF-8; paths and edits are given in UTF-8.")
        }
        guard text.contains(where: { !$0.isWhitespace }) else { return nil }
        // Some editors write a byte-order mark at the beginning of a file.
        let hasMark = number == 1 && text.unicodeScalars.first == "\u{FEFF}"
        let request = try JobRequest(
            json: hasMark ? String(text.unicodeScalars.dropFirst()) : text)
        if let id = request.id { return Job(id: id, request: request) }
        return Job(id: try Self.id(of: request, line: number), request: request)
    }

    private static func id(of request: JobRequest, line: Int) throws(Failure) -> JobID {
        try JobID("line-\(line)-\(request.digest.prefix(16))")
    }
}

/// The reason why nothing of a manifest can be run.
struct ManifestError: Error, CustomStringConvertible {
    let path: String
    let problems: [String]

    var description: String {
        "\(path) cannot be run; nothing was enqueued:"
            + problems.map { "\n  - " + $0 }.joined()
    }
}
