import Redis

extension JobQueue {
    /// How often a repair walks at most: what is mended first may show what else is wrong.
    static let repairWalksMax = 3

    /// Looks whether everything in Redis is as it must be, while workers go on.
    ///
    /// Walks see a moving queue, so they only name candidates; what a script confirms, alone and at one
    /// moment, is a finding. No call looks at more than some hundred ids.
    ///
    /// - Parameter repair: whether to mend what can be mended without losing a job or doing one twice. Then it
    ///   looks again, and what is still wrong is `open`.
    public func diagnose(repair: Bool = false) async throws(QueueError) -> Diagnosis {
        var mended: [Finding] = []
        for _ in 0..<Self.repairWalksMax where repair {
            var walk = DoctorWalk(queue: self, repair: true)
            let found = try await walk.run().mended
            mended += found.prefix(Diagnosis.findingsMax - mended.count)
            if found.isEmpty { break }
        }
        var walk = DoctorWalk(queue: self, repair: false)
        var diagnosis = try await walk.run()
        diagnosis.mended = mended
        diagnosis.warnings += try await warnings()
        return diagnosis
    }

    /// The server's time, in ms since 1970: the only clock of a queue.
    func now() async throws(QueueError) -> Int {
        let reply = try await send(["TIME"])
        guard let parts = reply.array, parts.count == 2, let seconds = parts[0].int,
            let microseconds = parts[1].int
        else { throw QueueError(.unexpectedReply, "TIME answered \(reply).") }
        return Int(seconds) * 1000 + Int(microseconds) / 1000
    }
}
