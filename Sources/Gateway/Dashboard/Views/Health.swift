package import JobQueue
import Operations

package struct Health: View {
    /// The urgency for a person.
    package enum Level: String, Sendable { case ok, attention, trouble }

    let level: String
    let label: String
    let icon: String
    let sentence: String

    package init(_ level: Level, _ sentence: String) {
        self.level = level.rawValue
        (label, icon) =
            switch level {
            case .ok: ("All is well", "✓")
            case .attention: ("Attention", "▲")
            case .trouble: ("Trouble", "✕")
            }
        self.sentence = sentence
    }

    /// Returns the most serious fault that the status shows.
    ///
    /// Dead jobs wait for a person, so with one of them not all is well.
    package init(_ status: QueueStatus) {
        let waiting = status[.incoming] + status[.lane] + status[.ready]
        let short = status.workers.filter { $0.pressure != nil }
        let troubled = status.workers.filter { $0.trouble != nil }
        // A job that is due counts although it is in none of the counts above: only a worker notices it.
        let standing = waiting + status[.active] + status.overdue.delayed
        if status.workers.isEmpty, standing > 0 {
            self.init(
                .trouble,
                "No worker runs, and \(many(standing, "job waits", "jobs wait")): start one."
            )
        } else if let first = troubled.first {
            self.init(
                troubled.count == status.workers.count ? .trouble : .attention,
                "\(troubled.count) of \(counted(status.workers.count, "worker")) \(troubled.count == 1 ? "claims" : "claim") no "
                    + "jobs. \(first.name): \(first.trouble ?? "")")
        } else if status[.stuck] > 0 {
            self.init(
                .trouble,
                "\(grouped(status[.stuck])) \(status[.stuck] == 1 ? "job is" : "jobs are") stuck: a version could not be "
                    + "published. Remove the cause, then replay or cancel.")
        } else if let reason = status.paused {
            self.init(
                .attention,
                "The queue is paused (\(reason)); \(grouped(waiting)) jobs wait until it is resumed."
            )
        } else if let hold = status.ingressHold {
            self.init(
                .attention,
                "\(grouped(hold.entries)) incoming entries are not admitted, because "
                    + (hold.memory == nil
                        ? "\(grouped(hold.jobs)) jobs wait or run already." : "Redis is full."))
        } else if !short.isEmpty {
            self.init(
                .attention,
                "\(counted(short.count, "worker is", "workers are")) short of memory.")
        } else if status[.dead] > 0 {
            self.init(
                .attention,
                "\(many(status[.dead], "job has failed for good and waits", "jobs have failed for good and wait")) for a "
                    + "person: see the cause, then replay or drop. \(Self.work(status, waiting))")
        } else {
            self.init(.ok, Self.work(status, waiting))
        }
    }

    /// The sentence about the work that needs nobody.
    private static func work(_ status: QueueStatus, _ waiting: Int) -> String {
        if status.workers.isEmpty { return "Nothing is to do, and no worker runs." }
        if status.isDrained {
            return
                "Nothing is to do; \(counted(status.workers.count, "worker waits", "workers wait"))."
        }
        return "\(counted(status.workers.count, "worker runs", "workers run")); "
            + "\(many(status.inHand, "job is", "jobs are")) in hand, and "
            + "\(many(waiting, "waits", "wait"))."
    }
}

/// As `counted`, with thousands separators.
private func many(_ count: Int, _ noun: String, _ more: String) -> String {
    "\(grouped(count)) \(count == 1 ? noun : more)"
}

/// The number of jobs in each state: the states from submission to completion, and those aside.
package struct Funnel: View {
    let steps: [Step]
    let aside: [Step]

    struct Step: View {
        let name: String
        let count: String
        let icon: String
        let tone: String
        let hint: String
        let href: String?
    }

    package init(_ status: QueueStatus) {
        func step(
            _ state: JobState, _ count: Int? = nil, icon: String? = nil, hint: String? = nil,
            href: String? = nil
        ) -> Step {
            let count = count ?? status[state]
            return Step(
                name: state.rawValue, count: grouped(count), icon: icon ?? state.icon,
                tone: count == 0 ? "none" : state.tone.rawValue, hint: hint ?? state.hint,
                href: count == 0 ? nil : href)
        }
        steps = [
            step(
                .incoming, status[.incoming] + status[.lane], icon: "⇢",
                hint: "sent, not yet jobs"),
            step(.ready), step(.active, status.inHand),
            step(.done, status.counters["completed"] ?? 0, hint: "since the queue exists"),
            step(.dead, href: Links.dead),
        ]
        let shown: Set<JobState> = [.incoming, .lane, .ready, .active, .dead]
        aside = JobState.counted.filter { !shown.contains($0) }.map { step($0) }
    }
}
