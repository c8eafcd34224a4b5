public import Edits
import BlobStore
import Files
public import Library
import SystemPackage

/// The reuse of existing renders.
///
/// Finding renders of the same asset costs no request, because the head lists their keys. Renders of other assets
/// are found through records, which cost requests, if ``Settings/sharesRenders`` is set. Two jobs that start the
/// same render at the same time both render, with the same result.
extension BucketLibrary {
    public func claim(
        _ key: RenderKey, of asset: AssetPath, for staged: StagedVersion
    ) async throws(Failure) -> RenderClaim {
        var shared: RenderRecord?
        if settings.sharesRenders {
            do throws(Failure) {
                shared = try await sharedRender(key.hex)
            } catch {
                // The photo is rendered without the record, which is not changed.
                if error.code == .laterFormat { return .lost }
                throw error
            }
        }
        return .claimed(BucketRenderEntry(key: key, asset: asset, library: self, shared: shared))
    }

    public func offer(
        _ key: RenderKey, _ version: Provenance, of asset: AssetPath, in staged: StagedVersion
    ) async throws(Failure) {
        guard settings.sharesRenders,
            case .claimed(let entry) = try await claim(key, of: asset, for: staged)
        else { return }
        try await entry.offer(version, of: asset, in: staged)
    }

    public func removeRenderRecord(_ key: String) async throws(Failure) {
        wrongRenders.set(key, true)
        if let key = RenderKey(recorded: key) { try await removeSharedRenderRecord(key.hex) }
    }

    /// Removes old records of shared renders. Keys within an asset are removed with their versions.
    public func removeUnusedRenderRecords() async throws(Failure) {
        try await removeOldSharedRenders()
    }

    /// Links the render of a key from another version of the same asset into a staged version.
    fileprivate func reuse(
        _ key: RenderKey, of asset: AssetPath, as stem: String, into staged: StagedVersion
    ) async throws(Failure) -> RenderedPhoto? {
        let tagged: TaggedHead
        if let known = heads[ExactName(asset)] {
            tagged = known
        } else {
            tagged = try await head(of: asset)
        }
        for entry in tagged.head.history + [tagged.head.draft].compactMap(\.self)
        where entry.renderKey == key.hex {
            guard let name = VersionName(entry.version),
                let version = try await record(name, asset),
                let content = version.content, content.rendering?.key == key.hex
            else { continue }
            let donor = RenderDonor(
                version: version, name: name, asset: asset, content: content)
            let reused = try await add(donor, as: stem, into: staged) {
                file, ours throws(Failure) in
                try await self.link(
                    .layer(asset, version: name, isDraft: version.isDraft, name: file.name),
                    as: ours, into: staged)
            }
            if let reused { return reused }
        }
        return nil
    }

    /// Adds a donor's render and previews to a staged version.
    ///
    /// - Parameter link: adds one file, under its name in the new version.
    /// - Returns: nil if the donor is damaged. No remains are left in that case.
    func add(
        _ donor: RenderDonor, as stem: String, into staged: StagedVersion,
        _ link: (RecordedFile, String) async throws(Failure) -> Void
    ) async throws(Failure) -> RenderedPhoto? {
        let content = donor.content
        let files = content.recordedFiles.compactMap { file -> (RecordedFile, String)? in
            switch file.subject {
            case .render: (file, content.render.renamed(stem).name)
            case .pairedVideo: content.pairedVideo.map { (file, $0.renamed(stem).name) }
            case .preview: (file, file.name)
            default: nil
            }
        }
        do throws(Failure) {
            for (file, ours) in files { try await link(file, ours) }
        } catch {
            // The photo is rendered, whatever the damage, so the notes are removed.
            try await offPool { () throws(Failure) in
                for (_, ours) in files { try self.unlink(ours, of: staged) }
            }
            return nil
        }
        let author = donor.version.author
        let isOurs = author.queue == staged.queue && author.job == staged.job
        return RenderedPhoto(
            donor.content, as: stem,
            from: isOurs ? nil : "\(donor.asset)@\(donor.version.version)")
    }
}

/// A version whose render another version reuses.
struct RenderDonor: Sendable {
    let version: Provenance
    let name: VersionName
    let asset: AssetPath
    /// The content of ``version``.
    let content: Content
}

/// The render of a key, for one job.
private struct BucketRenderEntry: RenderEntry {
    let key: RenderKey
    let asset: AssetPath
    let library: BucketLibrary
    /// The recorded versions of all assets that have the render; nil if they are not to be used.
    let shared: RenderRecord?

    func reuse(
        as stem: String, into staged: StagedVersion
    ) async throws(Failure) -> RenderedPhoto? {
        guard library.wrongRenders[key.hex] == nil else { return nil }
        if let own = try await library.reuse(key, of: asset, as: stem, into: staged) { return own }
        guard let shared else { return nil }
        return try await library.reuse(key, recordedIn: shared, as: stem, into: staged)
    }

    func offer(
        _ version: Provenance, of asset: AssetPath, in staged: StagedVersion
    ) async throws(Failure) {
        guard var shared else { return }
        shared.add(RenderRecord.Source(version, of: asset, in: staged))
        try await library.record(shared, of: key.hex)
    }
}
