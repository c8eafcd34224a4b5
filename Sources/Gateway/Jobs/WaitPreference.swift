import HTTPTypes
import JobQueue

/// How long a client waits for the end of a job: `Prefer: wait=5` (RFC 7240 §4.3).
struct WaitPreference {
    let seconds: Int

    /// nil when nothing is preferred; a longer wait than the gateway's is cut to that.
    ///
    /// - Throws: `badParameter`.
    init?(_ call: Call) throws(Problem) {
        guard let field = call.header(.prefer) else { return nil }
        for preference in field.split(separator: ",") {
            // Parameters of a preference mean nothing here; its value may be quoted.
            let parts = preference.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            guard parts.first?.trimmingSpaces.lowercased() == "wait" else { continue }
            guard parts.count == 2, let seconds = Int(parts[1].trimmingSpaces.unquoted),
                seconds >= 0
            else {
                throw Problem(
                    .badParameter,
                    "Prefer is \(field.debugDescription); expected wait= and seconds.")
            }
            self.seconds = min(seconds, Int(call.parts.settings.waitMax / .seconds(1)))
            return
        }
        return nil
    }

    /// Waits until a job has ended.
    ///
    /// - Parameter place: the newest event before it could have ended.
    /// - Returns: whether it has.
    func untilEnded(_ job: String, after place: StreamID, _ hub: EventHub) async throws -> Bool {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await Task.sleep(for: .seconds(seconds))
                return false
            }
            group.addTask {
                var place = place
                while !Task.isCancelled {
                    switch hub.entries(after: place) {
                    case .entries(let entries):
                        if entries.contains(where: { $0.event.event.ends(job) }) { return true }
                        place = entries.last?.place ?? place
                    case .none: await hub.wait(after: place)
                    // Events were lost on the way: the record says where the job is.
                    case .tooOld: return true
                    }
                }
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
    }
}

extension Substring {
    /// Without the quotation marks around it, if it has both.
    fileprivate var unquoted: Substring {
        utf8.count > 1 && first == "\"" && last == "\"" ? dropFirst().dropLast() : self
    }
}
