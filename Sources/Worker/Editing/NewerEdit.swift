import Edits
import FoundationEssentials
import Library

/// An edit of an asset that arrived later than the edit whose job runs now. It is kept, because readers see the
/// edit that arrived last.
struct NewerEdit: Sendable, Equatable {
    /// The version or draft of the later edit.
    let version: Provenance
    /// The arrival times of both edits, for messages.
    let reason: String

    /// Finds the later edit; nil if there is none.
    ///
    /// An edit that replaces the last one is superseded by the later edit. An edit that changes the last one was
    /// meant for the state at the time it was sent, so it fails.
    ///
    /// - Parameter arrival: the edit's arrival, in µs since 1970; nil: no queue sent the edit, so it is the newest.
    /// - Throws: `overtaken`.
    init?(
        than edit: Edit, arrivedAt arrival: Int?, _ open: OpenAsset
    ) throws(Failure) {
        guard let arrival else { return nil }
        func isNewer(_ version: Provenance) -> Bool { open.state.arrival(of: version) > arrival }
        if edit.mode.changesWhatIsThere {
            let newer = [open.state.current, edit.mode.anyDraft ? open.state.draft : nil]
            if let version = newer.compactMap(\.self).first(where: isNewer) {
                throw Self.overtaken(edit.mode.name, arrival, by: version, open)
            }
        }
        let target =
            edit.isDraft || edit.mode.anyDraft ? open.state.draft : open.state.current
        guard !edit.mode.namesDraft, let version = target, isNewer(version) else { return nil }
        self.version = version
        reason =
            "\(Self.sentence(version, open.state)), and this edit arrived at \(Self.time(arrival))"
    }

    private static func overtaken(
        _ mode: Edit.Name, _ arrival: Int, by version: Provenance, _ open: OpenAsset
    ) -> Failure {
        Failure(
            .overtaken,
            "\(mode.rawValue) of \(open.asset.string.debugDescription) arrived at \(time(arrival)), but "
                + "\(sentence(version, open.state)) and was carried out first. Check that version, and send the edit "
                + "again if it is still needed.")
    }

    private static func sentence(_ version: Provenance, _ state: AssetState) -> String {
        let arrival = state.arrival(of: version)
        let shown =
            "\(version.isDraft ? "the draft" : "version") \(version.version) by job \(version.author.job)"
        return arrival == version.author.arrival
            ? "\(shown) arrived at \(time(arrival))"
            : "an edit that asks for what \(shown) shows arrived at \(time(arrival))"
    }

    private static func time(_ arrival: Int) -> String {
        Date(timeIntervalSince1970: Double(arrival) / 1e6)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}

extension AssetEditor.Job {
    /// How far an arrival in the library may be ahead of the queue's time, in µs: two queues have two clocks. It is also
    /// how much time a server that took over leaves (`LOST_MAX` in `Scripts/Shared/records.lua`).
    private static let aheadMax = 10_000_000

    /// Returns the job with an arrival above those of an asset that are ahead of any clock of the queue.
    ///
    /// Redis was replaced by an empty server, or by one of a backup, whose clock is right, and the clock before was ahead.
    /// The queue knows nothing of those arrivals, and this edit was sent after them.
    func arriving(in state: AssetState) -> Self {
        let last = max(state.arrival, state.draft?.author.arrival ?? 0)
        guard let queueTime, let arrival = author.arrival, last > queueTime + Self.aheadMax,
            arrival <= last
        else { return self }
        var job = self
        job.author = author.arriving(at: last + 1)
        return job
    }
}

extension Provenance.Author {
    fileprivate func arriving(at arrival: Int) -> Self {
        Self(
            queue: queue, job: job, generation: generation, attempt: attempt, worker: worker,
            at: at, arrival: arrival)
    }
}

extension AssetState {
    /// Returns the arrival of the edit that produced a version or draft, in µs since 1970.
    fileprivate func arrival(of version: Provenance) -> Int {
        version.isDraft ? version.author.arrival ?? 0 : arrival
    }
}

extension Edit.Mode {
    /// Whether the mode refers to the state at the time it was sent, and would have another effect on a newer edit.
    fileprivate var changesWhatIsThere: Bool {
        switch self {
        case .append, .amend, .undo, .redo, .publish: true
        case .replace, .copyEdit, .import, .render, .renditions, .revert, .discard: false
        }
    }

    /// Whether the mode concerns the draft without naming it.
    fileprivate var anyDraft: Bool {
        switch self {
        case .publish(nil), .discard(nil): true
        default: false
        }
    }

    /// Whether the mode names one draft. That draft cannot be newer, because it existed when the edit was sent.
    fileprivate var namesDraft: Bool {
        switch self {
        case .publish(_?), .discard(_?): true
        default: false
        }
    }
}
