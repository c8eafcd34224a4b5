import Adjustments
import Library

/// The answer of a head to a wish for a change.
enum HeadDecision<Answer: Sendable & Equatable>: Sendable, Equatable {
    /// Nothing is to be written.
    case answer(Answer)
    /// The head is to be replaced; then this is the answer.
    case write(AssetHead, Answer)
}

extension AssetHead {
    /// Facts about a version to be published that a head does not have.
    struct PublishFacts: Sendable {
        /// The state of the asset that this head describes.
        let state: AssetState
        /// The jobs in its history.
        let jobs: [PublishedJob]
        /// Whether the version is known to be in the history behind the list.
        let isAncestor: Bool
        /// The moment, in seconds since 1970.
        let now: Int
    }

    /// Decides whether a sealed version becomes current, or the draft.
    ///
    /// The order of the questions is the folder's. A version that was the draft and is not any more was published
    /// before; the folder, where its files are gone, has it made again, which finds the same.
    func publishing(
        _ sealed: SealedVersion, _ facts: PublishFacts
    ) -> HeadDecision<Publication> {
        let version = sealed.provenance
        let isShown = (version.isDraft ? draft?.version : current) == version.version
        let isKnown = !version.isDraft && history.contains { $0.version == version.version }
        guard !isShown, !isKnown, !facts.isAncestor else { return .answer(.alreadyPublished) }
        if let job = version.job, let before = facts.jobs.first(where: job.isSame) {
            return .answer(
                before.version == version.version
                    ? .alreadyPublished : .publishedBefore(before.version))
        }
        // Its files, or those that it names, are being removed.
        guard !isTrash(version.version), !sealed.links.versions.contains(where: isTrash) else {
            return .answer(.lost)
        }
        guard current == version.parent else {
            return .answer(.conflict(current: current.flatMap(VersionName.init)))
        }
        // Of two drafts on one version the one that arrived later stays, whoever was faster.
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
            head.drop(before, at: facts.now)
        }
        return .write(next, .published)
    }

    /// Lets a draft go that is none any more, unless its files are needed.
    mutating func drop(_ draft: String?, at seconds: Int) {
        guard let draft, !linked.contains(draft), trash.count < Self.trashMax else { return }
        discard([draft], at: seconds)
    }

    /// Decides whether a draft goes.
    ///
    /// - Parameter name: only if it is this one; nil for whichever it is.
    func discardingDraft(_ name: VersionName?, now: Int) -> HeadDecision<VersionName?> {
        guard let draft = draft.flatMap({ VersionName($0.version) }), name == nil || name == draft
        else { return .answer(nil) }
        let next = changed { head in
            head.setDraft(nil)
            head.drop(draft.description, at: now)
        }
        return .write(next, draft)
    }

    /// Decides whether an edit that found nothing to change counts as the latest one.
    ///
    /// - Parameter arrival: when that edit arrived, in µs since 1970.
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
