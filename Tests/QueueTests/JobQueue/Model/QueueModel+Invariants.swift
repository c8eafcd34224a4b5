extension QueueModel {
    /// What must hold of every queue at every moment and does not.
    var violations: [String] { assetViolations + batchViolations + eventViolations }

    /// One job of an asset at a time, and nobody waits for nothing.
    private var assetViolations: [String] {
        var broken: [String] = []
        for (asset, holder) in assets {
            guard let job = jobs[holder], job.asset == asset,
                job.isLeased || [.ready, .delayed, .stuck].contains(job.state)
            else {
                broken.append("\(holder) has asset \(asset) and is \(state(holder))")
                continue
            }
        }
        for job in jobs.values {
            switch job.state {
            case .ready, .active, .committing, .stuck:
                if assets[job.asset] != job.id {
                    broken.append("\(job.id) is \(job.state) and does not have its asset")
                }
            case .parked:
                if [nil, job.id].contains(assets[job.asset]) {
                    broken.append("\(job.id) is parked behind nobody")
                }
            case .delayed, .done, .dead: break
            }
        }
        for (_, waiting) in Dictionary(grouping: jobs(.parked), by: \.asset) {
            let urgencies = waiting.map { Self.urgencies[$0.priority] ?? 9 }
            if urgencies != urgencies.sorted(by: >) {
                broken.append("\(waiting[0].asset) makes jobs wait for less urgent ones")
            }
        }
        return broken
    }

    private func state(_ id: String) -> String { jobs[id]?.state.rawValue ?? "gone" }

    /// A member is counted when it ends and not before, and once.
    private var batchViolations: [String] {
        var broken: [String] = []
        for (name, batch) in batches {
            for number in 0..<batch.admitted {
                let job = jobs["\(name):\(number)"]
                let isOpen = job.map { $0.state != .done && $0.state != .dead } ?? false
                if isOpen == batch.ended.contains(number) {
                    broken.append(
                        "\(name):\(number) is \(state("\(name):\(number)")); "
                            + "counted: \(batch.ended.contains(number))")
                }
            }
            let members = 0..<(batch.sealed ?? 0)
            if batch.isComplete, batch.uncountedInStream == nil,
                !batch.ended.isSuperset(of: members)
            {
                broken.append("\(name) is complete, and a member is not")
            }
            let ended = batch.ended.count + (batch.uncountedInStream ?? 0)
            if batch.sum != ended {
                broken.append("\(name) counts \(batch.sum) members; \(ended) ended")
            }
        }
        return broken
    }

    /// An end is told once, and what is counted was told.
    private var eventViolations: [String] {
        var broken: [String] = []
        let ends = [
            "completed", "drafted", "rendered", "unchanged", "superseded", "failed", "retried",
            "stuck",
        ]
        for end in ends {
            let reported = events.count { $0.type == "job.\(end)" }
            if reported != counters[end] ?? 0 {
                broken.append("\(counters[end] ?? 0) \(end), \(reported) told")
            }
        }
        if !hasForgottenNames {
            let once = events.filter { $0.type != "job.previewed" }.map(\.id)
            if Set(once).count != once.count { broken.append("told twice: \(once)") }
        }
        return broken
    }
}
