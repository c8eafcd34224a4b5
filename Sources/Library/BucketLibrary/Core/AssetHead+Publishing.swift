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
    /// The facts about a version to be published that are not in the head.
    struct PublishFacts: Sendable {
        /// The state of the asset that this head describes.
        let state: AssetState
        /// The jobs in its history.
        let jobs: PublishedJobs
        /// Whether the version is known to be in the history beyond the list.
        let isAncestor: Bool
        /// The present time, in seconds since 1970.
        let now: Int
    }

    /// Decides whether a sealed version becomes current, or the draft.
    ///
    /// The order of the checks is the same as for a folder. A version that was the draft and no longer is counts as
    /// published. In a folder its files are removed, so it is rendered again, with the same outcome.
    func publishing(
        _ sealed: SealedVersion, _ facts: PublishFacts
    ) -> HeadDecision<Publication> {
        let version = sealed.provenance
        let isShown = (version.isDraft ? draft?.version : current) == version.version
        let isKnown = !version.isDraft && history.contains { $0.version == version.version }
        guard !isShown, !isKnown, !facts.isAncestor else { return .answer(.alreadyPublished) }
        if let job = version.job, let before = facts.jobs.version(of: job) {
            return .answer(
                before == version.version ? .alreadyPublished : .publishedBefore(before))
        }
        // Its files, or those to which it links, are being removed.
        guard !isTrash(version.version), !sealed.links.versions.contains(where: isTrash) else {
            return .answer(.lost)
        }
        guard current == version.parent else {
            return .answer(.conflict(current: current.flatMap(VersionName.init)))
        }
        // Of two drafts based on one version the one that arrived later is kept, whichever was rendered first.
        if let shown = version.isDraft ? facts.state.draft : facts.state.current,
            let own = version.author.arrival,
            (version.isDraft ? shown.author.arrival ?? 0 : facts.state.arrival) > own
        {
            return .answer(.conflict(current: VersionName(shown.version)))
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
            head.moveDraftToTrash(before, at: facts.now)
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
        guard current == version.version else { return .answer(false) }
        let known = confirmed?.version == version.version ? confirmed?.arrival ?? 0 : 0
        guard arrival > max(known, version.author.arrival ?? 0) else { return .answer(true) }
        let next = changed { head in
            head.setConfirmed(Confirmation(version: version.version, arrival: arrival))
        }
        return .write(next, true)
    }
}
