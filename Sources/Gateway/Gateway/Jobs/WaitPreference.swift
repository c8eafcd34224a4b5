import AccessKeys
import Edits
import HTTPTypes
import JobQueue

/// The time that a client waits for a job to finish: `Prefer: wait=5` (RFC 7240 §4.3).
struct WaitPreference {
    let seconds: Int

    /// Reads the preference. Returns nil if there is none; limits the wait to the gateway's maximum.
    ///
    /// - Throws: `badParameter`.
    init?(_ call: Call) throws(Problem) {
        guard let field = call.header(.prefer) else { return nil }
        for preference in field.split(separator: ",") {
            // Parameters of a preference are ignored; its value may be quoted.
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

    /// Waits until a job has ended, or the time is over.
    ///
    /// A connection that ends takes its call out of what its tenant may have at a time, so nobody waits on for it.
    ///
    /// - Parameters:
    ///   - position: the position of an event that is older than the end of the job.
    ///   - call: the call that waits; no event beyond the reach of its key ends the wait.
    /// - Returns: whether the job has ended.
    /// - Throws: ``BodyRefusal/broken(_:)`` if the connection of the call has ended.
    func untilEnded(
        _ job: String, after position: StreamID, _ call: Call
    ) async throws -> Bool {
        let (reach, hub) = (try call.key.reach, call.parts.events.hub)
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await Task.sleep(for: .seconds(seconds))
                return false
            }
            group.addTask {
                try await call.parts.limits.connections.waitForEnd(of: call.channel)
                throw BodyRefusal.broken("the connection has ended")
            }
            group.addTask {
                var position = position
                while !Task.isCancelled {
                    switch hub.entries(after: position) {
                    case .entries(let entries):
                        let events = entries.lazy.map(\.event.event)
                        if events.contains(where: { $0.ends(job) && reach.covers($0) }) {
                            return true
                        }
                        position = entries.last?.position ?? position
                    case .none: await hub.wait(after: position)
                    // The hub has dropped events of this wait, so the caller reads the job's record instead.
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
    /// The text without its quotation marks, if it has both.
    fileprivate var unquoted: Substring {
        utf8.count > 1 && first == "\"" && last == "\"" ? dropFirst().dropLast() : self
    }
}
