import Redis

extension JobQueue {
    /// The maximum number of walks of a repair: the first repairs may reveal further faults.
    static let repairWalksMax = 3

    /// Checks whether the queue's data in Redis is consistent, while workers continue to run.
    ///
    /// Walks see a queue that changes, so they only name candidates. A finding is a candidate that a script, which runs alone,
    /// confirms. No call inspects more than some hundred ids.
    ///
    /// - Parameter repair: Whether to repair what can be repaired without the loss or repetition of a job. A last walk then
    ///   reports the remaining faults as `open`.
    public func diagnose(repair: Bool = false) async throws(QueueError) -> Diagnosis {
        var mended: [Finding] = []
        for _ in 0..<Self.repairWalksMax where repair {
            var walk = try await DoctorWalk(queue: self, repair: true)
            let found = try await walk.run().mended
            mended += found.prefix(Diagnosis.findingsMax - mended.count)
            if found.isEmpty { break }
        }
        var walk = try await DoctorWalk(queue: self, repair: false)
        var diagnosis = try await walk.run()
        diagnosis.mended = mended
        diagnosis.warnings += try await warnings()
        return diagnosis
    }
}
