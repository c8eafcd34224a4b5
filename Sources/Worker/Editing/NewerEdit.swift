import Adjustments
import FoundationEssentials
import Library

/// An edit of an asset that arrived later than one that has come to its turn: it stays, because readers see the edit that
/// arrived last.
struct NewerEdit: Sendable, Equatable {
    /// The version or draft that it made.
    let version: Provenance
    /// Which arrived when, for people.
    let reason: String

    /// Looks for it; nil when there is none.
    ///
    /// An edit that takes the place of the last one is superseded by it. An edit that changes the last one was meant for
    /// what was there when it was sent, so it fails.
    ///
    /// - Parameter arrival: when the edit arrived, in µs since 1970; nil when no queue sent it: then it is the newest.
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
        let place =
            edit.isDraft || edit.mode.anyDraft ? open.state.draft : open.state.current
        guard !edit.mode.namesDraft, let version = place, isNewer(version) else { return nil }
        self.version = version
        reason =
            "\(Self.told(version, open.state)), and this edit arrived at \(Self.time(arrival))"
    }

    private static func overtaken(
        _ mode: Edit.Name, _ arrival: Int, by version: Provenance, _ open: OpenAsset
    ) -> Failure {
        Failure(
            .overtaken,
            "\(mode.rawValue) of \(open.asset.string.debugDescription) arrived at \(time(arrival)), but "
                + "\(told(version, open.state)) and was carried out first. "
                + "Look at that one, and send the edit again if it is still wanted.")
    }

    private static func told(_ version: Provenance, _ state: AssetState) -> String {
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

extension AssetState {
    /// When the edit arrived that a version or draft is the outcome of, in µs since 1970.
    fileprivate func arrival(of version: Provenance) -> Int {
        version.isDraft ? version.author.arrival ?? 0 : arrival
    }
}

extension Edit.Mode {
    /// Whether it means what was there when it was sent, and would mean something else on a newer edit.
    fileprivate var changesWhatIsThere: Bool {
        switch self {
        case .append, .amend, .undo, .redo, .publish: true
        case .replace, .copyEdit, .import, .render, .revert, .discard: false
        }
    }

    /// Whether it is about the draft, whichever that is.
    fileprivate var anyDraft: Bool {
        switch self {
        case .publish(nil), .discard(nil): true
        default: false
        }
    }

    /// Whether it is about one draft, which cannot be newer: it was there when the edit was sent.
    fileprivate var namesDraft: Bool {
        switch self {
        case .publish(_?), .discard(_?): true
        default: false
        }
    }
}
