import BlobStore
import Edits
import Library

struct TaggedHead: Sendable {
    let head: AssetHead
    let tag: BlobTag?
}

extension BucketLibrary {
    /// The most times that a change is decided. Each repetition means that the asset was changed in the meantime.
    private static let roundsMax = 16
    /// The most writes with an unknown result in one change, after which the store counts as faulty.
    private static let unknownsMax = 3

    /// Reads the head of an asset. A missing head is an empty one.
    func head(of asset: AssetPath) async throws(Failure) -> TaggedHead {
        let key = try keys.head(of: asset)
        var tagged = TaggedHead(head: AssetHead(), tag: nil)
        let found: BlobBytes?
        do throws(BlobError) {
            found = try await store.bytes(key, nil, ifMatch: nil, atMost: AssetHead.bytesMax)
        } catch {
            switch error.code {
            case .notFound: found = nil
            // Longer than any head that Minilab writes.
            case .invalid: throw Failure(.damagedVersion, error.message)
            default: throw error.failure()
            }
        }
        if let found {
            tagged = TaggedHead(
                head: try AssetHead(reading: found.bytes, at: location(key)), tag: found.blob.tag)
        }
        heads.set(ExactName(asset), tagged, cost: Self.headCost(found?.bytes.count))
        return tagged
    }

    /// Returns the cost of caching a head, whose values need some memory even if its bytes are few.
    private static func headCost(_ bytes: Int?) -> Int { 4_096 + (bytes ?? 0) }

    /// Changes a head: decides, writes if the head is unchanged, and decides again if it was changed.
    ///
    /// An answer without a write is based on a head that was just read; a write may be based on a cached head.
    /// After a write with an unknown result the head is read, which reveals the result. The same decision on the
    /// same head writes the same bytes, so a delayed write does no harm.
    func change<Answer: Sendable & Equatable>(
        _ asset: AssetPath,
        _ decide: (TaggedHead) async throws(Failure) -> HeadDecision<Answer>
    ) async throws(Failure) -> Answer {
        var known = heads[ExactName(asset)]
        var unknowns: [Failure] = []
        for _ in 0..<Self.roundsMax {
            let isFresh = known == nil
            let tagged: TaggedHead
            if let known { tagged = known } else { tagged = try await head(of: asset) }
            known = nil
            switch try await decide(tagged) {
            case .answer(let answer): if isFresh { return answer }
            case .write(let next, let answer):
                if unknowns.count == Self.unknownsMax { throw unknowns[0] }
                switch try await write(next, over: tagged, asset) {
                case .written: return answer
                case .lost: break
                case .unknown(let failure): unknowns.append(failure)
                }
            }
        }
        throw Failure(
            .ioFailure,
            "\(asset.string.debugDescription) was changed by others \(Self.roundsMax) times in a row. The job is "
                + "retried.")
    }

    private enum WriteOutcome {
        case written
        /// Another process has changed the head.
        case lost
        /// It is unknown whether the write took effect.
        case unknown(Failure)
    }

    /// Replaces a head.
    private func write(
        _ head: AssetHead, over tagged: TaggedHead, _ asset: AssetPath
    ) async throws(Failure) -> WriteOutcome {
        let key = try keys.head(of: asset)
        let bytes = try head.encoded()
        heads.remove(ExactName(asset))
        do throws(BlobError) {
            let tag = try await store.put(
                key, bytes, if: tagged.tag.map { .unchanged($0) } ?? .absent, .json)
            heads.set(
                ExactName(asset), TaggedHead(head: head, tag: tag), cost: Self.headCost(bytes.count)
            )
            return .written
        } catch {
            switch error.code {
            // The head has another tag than the cached one, or is missing.
            case .precondition, .changed, .notFound: return .lost
            case .unknownFate: return .unknown(error.failure())
            default: throw error.failure()
            }
        }
    }
}

/// The provenances and links of versions, which never change: each is read once.
extension BucketLibrary {
    /// Returns the provenance of a version in the bucket, published or not; nil if it is missing.
    ///
    /// - Throws: `damagedVersion` if it is the provenance of another version, `laterFormat`, `ioFailure`.
    func record(
        _ name: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> Provenance? {
        let version = VersionKey(asset: asset, name: name)
        if let known = provenances[version] { return known }
        return try await text(name, asset).map { text throws(Failure) in
            try remember(text, name, asset)
        }
    }

    /// Returns the provenance of a version as it is in the bucket, byte for byte; nil if it is missing.
    func text(_ name: VersionName, _ asset: AssetPath) async throws(Failure) -> [UInt8]? {
        let key = try keys.file(Provenance.fileName, of: name, asset)
        return try await store.document(key, atMost: Provenance.fileBytesMax)?.bytes
    }

    /// Decodes a provenance and caches it.
    @discardableResult
    func remember(
        _ bytes: [UInt8], _ name: VersionName, _ asset: AssetPath
    ) throws(Failure) -> Provenance {
        let location = location(try keys.file(Provenance.fileName, of: name, asset))
        let provenance = try Provenance(reading: bytes, at: location)
        guard provenance.version == name.description else {
            throw Failure(
                .damagedVersion,
                "\(location) names the version \(provenance.version). Restore it from a backup.")
        }
        provenances.set(
            VersionKey(asset: asset, name: name), provenance, cost: 4_096 + bytes.count)
        return provenance
    }

    /// Returns the files of a version that belong to other versions.
    func links(
        of name: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> VersionLinks {
        let version = VersionKey(asset: asset, name: name)
        if let known = links[version] { return known }
        // A cached head suffices, because a version's links never change.
        if let entry = heads[ExactName(asset)]?.head.entry(name.description), entry.links.isEmpty {
            return VersionLinks()
        }
        let key = try keys.file(LibraryKeys.linksFile, of: name, asset)
        // A version that is not sealed yet may still get links.
        guard let bytes = try await store.document(key, atMost: VersionLinks.fileBytesMax)?.bytes
        else { return VersionLinks() }
        let found = try VersionLinks(reading: bytes, at: location(key))
        links.set(version, found)
        return found
    }

    func state(_ tagged: TaggedHead, _ asset: AssetPath) async throws(Failure) -> AssetState {
        let head = tagged.head
        return AssetState(
            current: try await embedded(head.provenance, head.current, asset),
            draft: try await embedded(head.draftProvenance, head.draft?.version, asset),
            confirmed: head.confirmed.flatMap { $0.version == head.current ? $0.arrival : nil })
    }

    private func embedded(
        _ text: String?, _ version: String?, _ asset: AssetPath
    ) async throws(Failure) -> Provenance? {
        guard let name = version.flatMap(VersionName.init) else { return nil }
        if let known = provenances[VersionKey(asset: asset, name: name)] { return known }
        if let text { return try remember(Array(text.utf8), name, asset) }
        guard let provenance = try await record(name, asset) else {
            throw Failure(
                .damagedVersion,
                "the head of \(asset) names the version \(name), whose provenance is not in the bucket. Restore it from "
                    + "a backup.")
        }
        return provenance
    }

    /// Returns the kept versions that are older than a head's list, the newest first, each read once.
    func older(
        _ head: AssetHead, _ asset: AssetPath
    ) async throws(Failure) -> [Provenance] {
        var walk = HistoryWalk(from: head.older, floor: head.floor)
        while let name = walk.next {
            let version = try await record(name, asset)
            walk.add(version?.isDraft == true ? nil : version)
        }
        return walk.versions
    }
}
