import Adjustments
import Editors
import FoundationEssentials
import Library
import RenderProtocol
import SystemPackage

extension AssetEditor {
    /// Renders a recipe and makes the version of it.
    func render(
        _ task: EditPlan.RenderTask, _ edit: Edit, _ open: OpenAsset, _ job: Job,
        placeholder: @Sendable (String) async -> Void
    ) async throws -> Provenance {
        let (source, base, folder) = try await offPool { () throws(Failure) in
            let base = newBase(for: task.input, open)
            let source =
                if let base { base.file } else { try library.original(of: open.asset) }
            return (source, base, try library.stage(job.staged))
        }
        let (made, entry, reusedKey) = try await pool.planning { memoryMax in
            let request = PhotoRequest(
                source: source.string, recipe: task.recipe, limits: limits, resources: resources,
                folder: folder.string, stem: open.asset.stem, memoryMax: memoryMax)
            return try await photo(request, of: open.asset, job, placeholder)
        }
        return try await offPool { () throws(Failure) in
            // Not before: a child may write to all that lies in its folder.
            if let base { try library.link(base.file, as: base.name, into: job.staged) }
            let adjustment = try library.write(
                AAESidecar(
                    try adjustment(task, made.recipe, open),
                    on: base == nil ? .original : .adjusted,
                    timestamp: job.author.date ?? .now),
                as: open.asset.stem + ".AAE", into: job.staged)
            let content = Content(
                source: try base == nil ? made.input : original(open),
                base: base?.layer(made.input), adjustment: adjustment, opened: task.opened,
                recipe: made.recipe, editDigest: edit.json.digest, copiedFrom: task.copiedFrom,
                reusedFrom: made.reusedFrom, rendering: made.rendering, render: made.image,
                previews: made.previews, placeholder: made.placeholder)
            let version = try seal(edit, open, job, content: content, timeline: nil)
            if let entry, entry.key.hex == made.rendering.key {
                try library.offer(entry, version, of: open.asset, in: job.staged)
            } else if let reusedKey {
                try library.offer(reusedKey, version, of: open.asset, in: job.staged)
            }
            return version
        }
    }

    /// Takes a render from a version that has it, or makes it.
    ///
    /// - Returns: with it the entry that others wait for, if we made it, or else the key of what was reused.
    private func photo(
        _ request: PhotoRequest, of asset: AssetPath, _ job: Job,
        _ placeholder: @Sendable (String) async -> Void
    ) async throws -> (RenderedPhoto, RenderEntry?, RenderKey?) {
        let needs = try await needs(of: request)
        try await checkMediaType(needs.header, of: asset)
        // Without a child and its memory: who renders the same may need it.
        let entry: RenderEntry?
        if let key = needs.key { entry = try await self.entry(key, job) } else { entry = nil }
        if let entry, let made = try await reused(entry, stem: asset.stem, job) {
            // Its lock is not needed to seal: others link the same meanwhile.
            return (made, nil, entry.key)
        }
        let bytes = job.isAlone ? max(needs.bytes, pool.gate.budget.bytes) : needs.bytes
        job.reach(.waiting)
        let made = try await pool.lend(bytes, preferring: needs.child) { child in
            job.reach(.rendering)
            return try await self.rendered(
                request, needs.plan, job, by: child, placeholder: placeholder)
        }
        return (made, entry, nil)
    }

    /// What a render needs to be admitted.
    private struct Needs: Sendable {
        let header: PhotoHeader
        let plan: RenderPlan
        /// Memory for it and its previews.
        let bytes: Int
        /// Nil when renders are not to be used again.
        let key: RenderKey?
        /// Who has read the photo.
        let child: LentChild
    }

    private func needs(of request: PhotoRequest) async throws -> Needs {
        let planning = try await planningBytes(request)
        return try await pool.lend(planning) { child in
            let (header, plan) = try await child.probe(ProbeRequest(request))
            let previews = try await previewBytes(
                of: request.recipe, FilePath(request.source), request.memoryMax, by: child)
            var key: RenderKey?
            if reuseWait != nil {
                key = try RenderKey(
                    request.recipe, header, await child.digest(of: request.source))
            }
            return Needs(
                header: header, plan: plan, bytes: max(plan.estimate.memoryBytes, previews),
                key: key, child: child)
        }
    }

    /// The memory that a request needs to be planned: to plan an automatic filter, a small copy of the photo is decoded.
    private func planningBytes(_ request: PhotoRequest) async throws -> Int {
        guard request.recipe.isAutomatic else { return MemoryBudget.childBytes }
        let copy = ProbeRequest(
            source: request.source, recipe: try Recipe(filters: []), limits: request.limits,
            longestSide: PhotoRequest.longestSideRange.lowerBound, memoryMax: request.memoryMax)
        return try await pool.probe(copy).1.estimate.memoryBytes
    }

    /// Renders a photo and its previews.
    private func rendered(
        _ request: PhotoRequest, _ plan: RenderPlan, _ job: Job, by child: LentChild,
        placeholder: @Sendable (String) async -> Void
    ) async throws -> RenderedPhoto {
        let source = FilePath(request.source)
        let tiny = try await self.placeholder(
            of: request.recipe, source, request.memoryMax, job.staged, by: child)
        if let tiny { await placeholder(tiny) }
        let report = try await child.render(request, planned: plan)
        // Of the recipe as it was resolved for the full photo, so that they show the same.
        let previews = try await previews(
            of: report.recipe, source, request.memoryMax, job.staged, by: child)
        let key = try RenderKey(request.recipe, report.header, report.sourceDigest)
        // Previews of a photo that took the place of this one are nothing to hand on.
        let digestAfter =
            previews.isEmpty ? report.sourceDigest : try await child.digest(of: request.source)
        return RenderedPhoto(
            input: Content.Input(report), recipe: report.recipe,
            rendering: Content.Rendering(
                report, key: digestAfter == report.sourceDigest ? key : nil, at: job.author.at),
            image: Content.Image(report.output), previews: previews, placeholder: tiny)
    }

    /// The base layer of a version in the making; its digest is known when it was read.
    private struct Base: Sendable {
        /// In the current version.
        let file: FilePath
        /// In the version in the making.
        let name: String
        /// The version whose render it is.
        let version: String

        func layer(_ input: Content.Input) -> Content.Layer {
            Content.Layer(name: name, version: version, input: input)
        }
    }

    private func newBase(for input: EditingInput, _ open: OpenAsset) -> Base? {
        guard input != .original, let current = open.state.current, let content = current.content
        else { return nil }
        let layer = input == .base ? content.base : nil
        let file = FilePath(layer?.name ?? content.render.name)
        return Base(
            file: library.folder(of: current, open.asset).pushing(file),
            name: Content.baseFolder + "/" + (file.lastComponent?.string ?? file.string),
            version: layer?.version ?? current.version)
    }

    /// What is known of the original: a version on a base does not read it.
    private func original(_ open: OpenAsset) throws(Failure) -> Content.Input {
        guard let content = open.content else {
            throw Failure(.internalError, "\(open.asset) has a base and no content.")
        }
        return content.source
    }

    private func adjustment(
        _ task: EditPlan.RenderTask, _ recipe: Recipe, _ open: OpenAsset
    ) throws(Failure) -> AdjustmentData {
        if let adjustment = task.adjustment { return adjustment }
        if task.keepsAdjustment, let current = open.state.current, let content = current.content {
            return try library.sidecar(
                of: content, in: library.folder(of: current, open.asset)
            ).adjustment
        }
        return AdjustmentData(recipe)
    }
}

extension Content.Input {
    fileprivate init(_ report: RenderReport) {
        self.init(
            sha256: report.sourceDigest, format: report.header.format,
            size: report.header.storedSize, orientation: report.header.orientation)
    }
}

extension Content.Image {
    init(_ file: RenderedFile, in folder: String? = nil) {
        self.init(
            name: (folder.map { $0 + "/" } ?? "") + file.name, mediaType: file.mediaType,
            size: file.size, bytes: file.bytes, sha256: file.digest)
    }
}

extension Content.Rendering {
    fileprivate init(_ report: RenderReport, key: RenderKey?, at: String) {
        self.init(
            engine: Engine.name, key: key?.hex, at: at,
            plan: report.plan.description.split(separator: "\n").map(String.init),
            wallMilliseconds: report.wallMilliseconds, cpuMilliseconds: report.cpuMilliseconds,
            peakMemoryBytes: report.peakMemoryBytes)
    }
}
