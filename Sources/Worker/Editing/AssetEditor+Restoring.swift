import Adjustments
import Editors
import FoundationEssentials
import Library
import RenderProtocol
import SystemPackage

extension AssetEditor {
    /// Makes the version that shows an older content again, or the original; no pixel is touched.
    func restore(
        _ restoration: EditPlan.Restoration, _ edit: Edit, _ open: OpenAsset, _ job: Job
    ) async throws -> Provenance {
        try await offPool { () throws(Failure) in
            _ = try library.stage(job.staged)
            if let from = restoration.from, let content = from.content {
                try library.link(
                    content, from: library.folder(of: from, open.asset), into: job.staged)
            }
            return try seal(
                edit, open, job, content: restoration.from?.content,
                timeline: restoration.timeline)
        }
    }

    /// Makes the version of an import whose render came along.
    func adopt(
        _ adoption: EditPlan.Adoption, _ edit: Edit, _ open: OpenAsset, _ job: Job
    ) async throws -> Provenance {
        let (original, render) = try await offPool { () throws(Failure) in
            (
                try library.original(of: open.asset), try library.original(of: adoption.render)
            )
        }
        let unedited = try Recipe(filters: [])
        let (header, _) = try await pool.probe(
            ProbeRequest(source: original.string, recipe: unedited, limits: limits))
        let (rendered, _) = try await pool.probe(
            ProbeRequest(source: render.string, recipe: unedited, limits: limits))
        return try await offPool { () throws(Failure) in
            _ = try library.stage(job.staged)
            let name = open.asset.stem + "." + (render.extension ?? rendered.format)
            try library.copy(render, as: name, into: job.staged)
            let sidecar = AAESidecar(
                adoption.adjustment, on: adoption.hasBase ? .adjusted : .original,
                timestamp: job.author.date ?? .now)
            let adjustment = try library.write(
                sidecar, as: open.asset.stem + ".AAE", into: job.staged)
            let content = Content(
                source: try library.input(original, header), base: nil,
                adjustment: adjustment,
                opened: nil, recipe: adoption.recipe, editDigest: edit.json.digest, rendering: nil,
                render: try library.image(name, rendered, in: job.staged))
            return try seal(edit, open, job, content: content, timeline: nil)
        }
    }

    /// Adds the provenance to what lies in staging.
    ///
    /// - Parameter timeline: of a move through history; nil when the version counts as an edit.
    func seal(
        _ edit: Edit, _ open: OpenAsset, _ job: Job, content: Content?, timeline: Timeline?
    ) throws(Failure) -> Provenance {
        let parent = open.state.current.flatMap { VersionName($0.version) }
        let name = VersionName(revision: (parent?.revision ?? 0) + 1, fence: job.staged.fence)
        let before = open.state.current?.timeline ?? .start
        let provenance = Provenance(
            version: name, parent: parent, isDraft: edit.isDraft, mode: edit.mode.name,
            draft: edit.mode.name == .publish
                ? open.state.draft.flatMap { VersionName($0.version) } : nil,
            author: job.author, timeline: timeline ?? before.edited(by: name), content: content)
        try library.seal(job.staged, provenance)
        return provenance
    }
}

extension Library {
    fileprivate func input(
        _ path: FilePath, _ header: PhotoHeader
    ) throws(Failure) -> Content.Input {
        Content.Input(
            sha256: try digest(of: path).hex, format: header.format, size: header.storedSize,
            orientation: header.orientation)
    }

    fileprivate func image(
        _ name: String, _ header: PhotoHeader, in staged: StagedVersion
    ) throws(Failure) -> Content.Image {
        let digest = try digest(of: folder(of: staged).appending(name))
        return Content.Image(
            name: name, mediaType: "image/" + header.format, size: header.uprightSize,
            bytes: digest.bytes, sha256: digest.hex)
    }
}
