package import Edits
package import JobQueue

/// The result of one job's replay.
package struct ReplayLine: Encodable, Sendable {
    package let job: String
    package let asset: String?
    /// The failure code of its death.
    package let code: FailureCode?
    /// The reply of the queue; nil in a dry run.
    package let answer: JobQueue.Replay?

    private enum Key: CodingKey { case job, asset, code, answer }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(job, forKey: .job)
        try fields.encodeIfPresent(asset, forKey: .asset)
        try fields.encodeIfPresent(code, forKey: .code)
        try fields.encode(answer.map { "\($0)" } ?? "wouldBeReplayed", forKey: .answer)
    }
}
