import Edits
import Library

/// The decision about a change of a head.
enum HeadDecision<Answer: Sendable & Equatable>: Sendable, Equatable {
    /// No write is needed.
    case answer(Answer)
    /// The head is to be replaced. The answer applies after the write.
    case write(AssetHead, Answer)
}

extension AssetHead {
    /// Decides whether a sealed version becomes current, or the draft.
    ///
    /// A version that was the draft and no longer is counts as published. In a folder its files are removed, so it is
    /// rendered again, with the same outcome.
    ///
    /// - Parameters:
    ///   - state: the state of the asset that this head describes.
    ///   - jobs: the jobs in its history.
    ///   - isOlder: whether the version is known to be in the history beyond the list.
    func publishing(
        _ sealed: SealedVersion, _ state: AssetState, _ jobs: PublishedJobs, isOlder: Bool,
        now: Int
    ) -> HeadDecision<Publication> {
        let version = sealed.provenance
        let isListed = !version.isDraft && history.contains { $0.version == version.version }
        let decision = PublishFacts(
            state: state, jobs: jobs, wasCurrent: isListed || isOlder,
            isGoing: isTrash(version.version) || sealed.links.versions.contains(where: isTrash)
        ).decision(on: version)
        switch decision {
        case .publish: break
        case .isShown, .wasCurrent, .wasMade(version.version): return .answer(.alreadyPublished)
        case .wasMade(let before): return .answer(.publishedBefore(before))
        case .lost: return .answer(.lost)
        case .conflict(let current): return .answer(.conflict(current: current))
        }
        let next = changed { head in
            let before = head.draft?.version
            if version.isDraft {
                head.setDraft(sealed)
            } else {
                head.setCurrent(sealed)
                guard let published = version.draft, published == before else { return }
                head.setDraft(nil)
            }
            head.moveDraftToTrash(before, at: now)
        }
        return .write(next, .published)
    }

    /// Moves a former draft to the trash, unless its files are needed.
    mutating func moveDraftToTrash(_ draft: String?, at seconds: Int) {
        guard let draft, !linked.contains(draft), trash.count < Self.trashMax else { return }
        moveToTrash([draft], at: seconds)
    }

    /// Decides whether a draft is removed.
    ///
    /// - Parameter name: the name that the draft must have; nil: the asset had none.
    func discardingDraft(_ name: VersionName?, now: Int) -> HeadDecision<VersionName?> {
        guard let draft = draft.flatMap({ VersionName($0.version) }), name == draft
        else { return .answer(nil) }
        let next = changed { head in
            head.setDraft(nil)
            head.moveDraftToTrash(draft.description, at: now)
        }
        return .write(next, draft)
    }

    /// Decides whether an edit that changes nothing is recorded as the latest one.
    ///
    /// - Parameter arrival: the arrival of that edit, in µs since 1970.
    func confirming(_ version: Provenance, at arrival: Int) -> HeadDecision<Bool> {
        let known = confirmed.flatMap { $0.version == version.version ? $0.arrival : nil }
        switch ConfirmDecision(version, current: current, known: known, arrival: arrival) {
        case .isReplaced: return .answer(false)
        case .isKnown: return .answer(true)
        case .record: break
        }
        let next = changed { head in
            head.confirmed = Confirmation(version: version.version, arrival: arrival)
        }
        return .write(next, true)
    }
}
