import JobQueue

/// The jobs that a replay means, before it starts them.
struct ReplayPreview: Encodable {
    let count: Int
    let isComplete: Bool
    let codes: [String: Int]
    /// The moment, ms since 1970, up to which jobs had died that are meant; give it with the replay.
    let until: Int
    /// Seconds that it takes about, of all workers.
    let aboutSeconds: Int?
    let sample: [Sample]
    /// The records of those.
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
