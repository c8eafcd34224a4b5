public import Adjustments
import BlobStore
import Files
public import Library
import SystemPackage

/// Renders of the same asset that a version has already: the head knows their keys, so asking costs nothing.
///
/// Two jobs that render the same at one time both render; both are right, and one of them is published.
extension BucketLibrary {
    public func claim(
        _ key: RenderKey, of asset: AssetPath, for staged: StagedVersion
    ) async throws(Failure) -> RenderClaim {
        .held(BucketRenderEntry(key: key, asset: asset, library: self))
    }

    /// Nothing is to be done: the version's own entry in the head has the key.
    public func offer(
        _ key: RenderKey, _ version: Provenance, of asset: AssetPath, in staged: StagedVersion
    ) async throws(Failure) {}

    /// This process takes the render over no more.
    public func forgetRender(_ key: String) async throws(Failure) { wrongRenders.set(key, true) }

    /// Nothing is to be done: keys go with the versions that have them.
    public func forgetRenders() async throws(Failure) {}

    /// Gives a staged version the render of a key as links.
    fileprivate func reuse(
        _ key: RenderKey, of asset: AssetPath, as stem: String, into staged: StagedVersion
    ) async throws(Failure) -> ReusedRender? {
        guard wrongRenders[key.hex] == nil else { return nil }
        let held: HeldHead
        if let known = heads[ExactName(asset)] {
            held = known
        } else {
            held = try await head(of: asset)
        }
        for entry in held.head.history + [held.head.draft].compactMap(\.self)
        where entry.renderKey == key.hex {
            guard let name = VersionName(entry.version),
                let version = try await record(name, asset),
                let content = version.content, content.rendering?.key == key.hex
            else { continue }
            return try await link(content, of: version, name, asset, as: stem, into: staged)
        }
        return nil
    }

    private func link(
        _ content: Content, of version: Provenance, _ name: VersionName, _ asset: AssetPath,
        as stem: String, into staged: StagedVersion
    ) async throws(Failure) -> ReusedRender? {
        let render = content.render
        let image = Content.Image(
            name: stem + (FilePath(render.name).extension.map { "." + $0 } ?? ""),
            mediaType: render.mediaType, size: render.size, bytes: render.bytes,
            sha256: render.sha256)
        let files =
            [(render.name, image.name)] + content.previews.map { ($0.image.name, $0.image.name) }
        do throws(Failure) {
            for (file, ours) in files {
                try await link(
                    .layer(asset, version: name, isDraft: version.isDraft, name: file), as: ours,
                    into: staged)
            }
        } catch {
            // Whatever is wrong with it, the photo is rendered; no note of what was tried may stay.
            try await offPool { () throws(Failure) in
                for (_, ours) in files { try self.unlink(ours, of: staged) }
            }
            return nil
        }
        let isOurs = version.author.queue == staged.queue && version.author.job == staged.job
        return ReusedRender(
            content, render: image, from: isOurs ? nil : "\(asset)@\(version.version)")
    }
}

/// The render of a key, for one job.
private struct BucketRenderEntry: RenderEntry {
    let key: RenderKey
    let asset: AssetPath
    let library: BucketLibrary

    func reuse(
        as stem: String, into staged: StagedVersion
    ) async throws(Failure) -> ReusedRender? {
        try await library.reuse(key, of: asset, as: stem, into: staged)
    }

    func offer(
        _ version: Provenance, of asset: AssetPath, in staged: StagedVersion
    ) async throws(Failure) {}
}
