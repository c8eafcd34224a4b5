import JobQueue

/// The jobs that a replay would start.
struct ReplayPreview: Encodable {
    let count: Int
    let isComplete: Bool
    let codes: [String: Int]
    /// The replay covers jobs that died up to this moment, in ms since 1970. Send it with the replay.
    let until: Int
    /// The estimated duration of the replay on all workers together, in seconds.
    let aboutSeconds: Int?
    let sample: [Sample]
    /// The records of the jobs in ``sample``.
    let jobs: [JobRecord]

    private enum CodingKeys: CodingKey {
        case count, isComplete, codes, until, aboutSeconds, sample
    }

    /// One of the jobs.
    struct Sample: Encodable {
        let job: String
        let asset: String
        let code: String?
        let message: String?
    }
}
