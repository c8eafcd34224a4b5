package import Adjustments
package import JobQueue

/// The outcome of one job.
package struct ReplayLine: Encodable, Sendable {
    package let job: String
    package let asset: String?
    /// The code of its death.
    package let code: FailureCode?
    /// nil when nothing was tried.
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
