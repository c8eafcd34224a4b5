import Adjustments
import Editors
import FileBytes
import FoundationEssentials
import Library
import RenderProtocol
import SystemPackage

extension AssetEditor {
    /// Reads what an import names; the photo's header is needed to read the data.
    func read(_ source: Edit.Import, _ asset: AssetPath) async throws -> ImportedEdit {
        let original = try await offPool { () throws(Failure) in try library.original(of: asset) }
        let header = try await header(of: original)
        try await checkMediaType(header, of: asset)
        return try await offPool { () throws(Failure) in
            let (adjustment, hasBase) = try data(source.adjustment)
            return ImportedEdit(
                adjustment: adjustment, hasBase: hasBase,
                answer: editors.open(adjustment, of: header.photo),
                render: try source.render.map { path throws(Failure) in
                    ImportedEdit.Render(
                        path: path,
                        sha256: try FileDigest.sha256(of: library.original(of: path).string).hex)
                })
        }
    }

    /// Makes the version of an import whose render came along: its bytes, and previews of it.
    func adopt(
        _ adoption: EditPlan.Adoption, _ edit: Edit, _ open: OpenAsset, _ job: Job,
        placeholder: @Sendable (String) async -> Void
    ) async throws -> Provenance {
        let (original, render, folder) = try await offPool { () throws(Failure) in
            (
                try library.original(of: open.asset), try library.original(of: adoption.render),
                try library.stage(job.staged)
            )
        }
        let header = try await header(of: original)
        let rendered = try await self.header(of: render)
        let name = open.asset.stem + "." + (render.extension ?? rendered.format)
        try await offPool { () throws(Failure) in
            try library.copy(render, as: name, into: job.staged)
        }
        // The edit is in the render already.
        let baked = try Recipe(
            filters: [], output: Recipe.Output(previews: edit.output?.previews ?? []))
        let source = folder.appending(name)
        let (tiny, previews) = try await pool.planning { memoryMax in
            let bytes = try await pool.lend { child in
                try await self.previewBytes(of: baked, source, memoryMax, by: child)
            }
            return try await pool.lend(bytes) { child in
                let tiny = try await self.placeholder(
                    of: baked, source, memoryMax, job.staged, by: child)
                if let tiny { await placeholder(tiny) }
                return (
                    tiny,
                    try await self.previews(of: baked, source, memoryMax, job.staged, by: child)
                )
            }
        }
        return try await offPool { () throws(Failure) in
            let adjustment = try library.write(
                AAESidecar(
                    adoption.adjustment, on: adoption.hasBase ? .adjusted : .original,
                    timestamp: job.author.date ?? .now),
                as: open.asset.stem + ".AAE", into: job.staged)
            let content = Content(
                source: try library.input(original, header), base: nil, adjustment: adjustment,
                opened: nil, recipe: adoption.recipe, editDigest: edit.json.digest, rendering: nil,
                render: try library.image(name, rendered, in: job.staged), previews: previews,
                placeholder: tiny)
            return try seal(edit, open, job, content: content, timeline: nil)
        }
    }

    private func data(
        _ source: Edit.Import.Adjustment
    ) throws(Failure) -> (AdjustmentData, hasBase: Bool) {
        switch source {
        case .inline(let data): return (data, false)
        case .sidecar(let path):
            let sidecar = try library.sidecar(at: path)
            return (sidecar.adjustment, sidecar.base == .adjusted)
        }
    }

    private func header(of photo: FilePath) async throws -> PhotoHeader {
        try await pool.probe(
            ProbeRequest(source: photo.string, recipe: Recipe(filters: []), limits: limits)
        ).0
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
