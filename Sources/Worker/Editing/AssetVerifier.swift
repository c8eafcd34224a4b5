public import Edits
import Files
import FoundationEssentials
import Glibc
public import Library
public import RenderPool
import RenderProtocol
public import SystemPackage

/// Verifies that the render of an asset is the result of its edit, applied to its input:
/// `render(base or original, adjustment data) == render`.
public struct AssetVerifier: Sendable {
    private let library: any LibraryReader & RenderReuse
    private let pool: RenderPool
    private let settings: EditingSettings
    private let here: LibrariesHere

    public init(
        library: any LibraryReader & RenderReuse, pool: RenderPool, settings: EditingSettings
    ) {
        self.library = library
        self.pool = pool
        self.settings = settings
        here = LibrariesHere(pool)
    }

    /// Compares an asset's files with their records, then renders again and compares the bytes.
    ///
    /// Every file is compared with its digest. Renders of another ``Engine/render``, or by other libraries, are not made again, because
    /// other bytes would be no fault; the report counts them. Imported renders are not either; a note reports that. Of a
    /// Live Photo the still is rendered again; the bytes of its movie are compared with the record.
    ///
    /// - Parameters:
    ///   - allVersions: whether all kept versions are checked, not only the current one and the draft.
    ///   - scratch: an empty folder for the renders; nil: nothing is rendered.
    ///   - renditions: of a hundred renditions, the number of those that are made again.
    /// - Throws: a `Failure` if nothing can be checked, or `CancellationError`.
    public func verify(
        _ asset: AssetPath, allVersions: Bool, scratch: FilePath?,
        renditions: Int = renditionsOfHundred
    ) async throws -> Verification {
        let now = Date.now
        let files = try await library.verify(
            asset, allVersions: allVersions, editors: settings.editors, now: now)
        var report = files.report
        guard let scratch else { return report }
        for render in files.renders {
            let path = render.path
            if let other = try await here.difference(of: render.rendering.origin) {
                report.notRenderedAgain.add(renders: 1, of: other)
                continue
            }
            do {
                let again = try await self.again(render, asset, scratch)
                report.rendersCompared += 1
                if again != render.image.sha256 {
                    report.add(
                        problem: .invariant, path,
                        "its edit makes other bytes of its input: SHA-256 \(again), recorded is "
                            + "\(render.image.sha256). Restore the version from a backup, or revert and edit it again."
                    )
                    try await removeFromReuse(render)
                }
            } catch let failure as Failure where failure.code != .rendererUnavailable {
                // A child that cannot be started is no fault of the asset.
                report.add(
                    problem: .invariant, path, "it cannot be rendered again: \(failure)")
            }
        }
        for rendition in files.renditions where rendition.isSampled(ofHundred: renditions) {
            try await check(rendition, asset, scratch, &report)
        }
        return report
    }

    /// The number of a hundred renditions that are made again unless another one is given: they can be made again, so a file that is
    /// wrong costs little, and an engine that makes other bytes shows soon.
    public static let renditionsOfHundred = 3

    /// Makes a rendition again and compares its digest.
    private func check(
        _ rendition: RecordedRendition, _ asset: AssetPath, _ scratch: FilePath,
        _ report: inout Verification
    ) async throws {
        if let other = try await here.difference(of: rendition.record.origin) {
            report.renditionsSkipped += 1
            report.notRenderedAgain.add(renditions: 1, of: other)
            return
        }
        do {
            guard let again = try await again(rendition, asset, scratch) else {
                report.renditionsSkipped += 1
                return
            }
            report.renditionsCompared += 1
            guard again != rendition.record.made.sha256 else { return }
            report.add(
                problem: .rendition, rendition.path,
                "its input and what was asked for make other bytes: SHA-256 \(again), recorded is "
                    + "\(rendition.record.made.sha256). Remove the file, and send a job in the mode renditions with "
                    + "\"remake\": true and \"version\": \"\(rendition.version.version)\".")
        } catch let failure as Failure where failure.code != .rendererUnavailable {
            report.add(
                problem: .rendition, rendition.path, "it cannot be made again: \(failure)")
        }
    }

    /// Makes a rendition again and returns the SHA-256 of the result; nil if its input is not what it was made from.
    private func again(
        _ rendition: RecordedRendition, _ asset: AssetPath, _ scratch: FilePath
    ) async throws -> String? {
        let input = try RenditionInput(rendition.version, asset)
        let source = try await library.open(input.file)
        let sha256 = try await offPool { () throws(Failure) in try FileDigest.hex(of: source) }
        guard input.sha256 ?? sha256 == sha256 else { return nil }
        let wanted = try WantedRenditions(recorded: [rendition.name: rendition.record])
        let borrower = Borrower(.photo(asset.string))
        let settings = settings
        let opened = try await offPool { () throws(Failure) in
            RenderFiles(
                sources: [source],
                resources: try .opened(
                    for: input.recipe, renditions: wanted.all.map(\.rendition), of: borrower.owner,
                    in: settings.resources))
        }
        var request = PhotoRequest(
            recipe: input.recipe, limits: settings.limits, outputs: wanted.outputs,
            memoryMax: pool.budgetBytes, threads: pool.slots.share)
        let inspection = try await pool.inspect(request, opened, for: borrower)
        request.recipe = inspection.recipe
        let (asked, drawn, missed) = try await pool.drawTexts(
            of: request, opened, on: inspection.plan.resultSize, for: borrower,
            in: settings.resources)
        if let failure = missed[rendition.name] { throw failure }
        let files = try await offPool { () throws(Failure) in
            var files = drawn
            files.outputs = [try .nameless(in: scratch.string, name: "a rendition")]
            files.spool = try .nameless(in: scratch.string, name: "the spool")
            return files
        }
        return try await pool.lend(inspection.memoryBytes, to: borrower) { child in
            _ = try await child.render(asked, files, as: inspection)
            return try await offPool { () throws(Failure) in
                try FileDigest.hex(of: files.outputs[0])
            }
        }
    }

    /// Ensures that no other version reuses a wrong render.
    private func removeFromReuse(_ render: RecordedRender) async throws {
        guard let key = render.rendering.key else { return }
        try await library.removeRenderRecord(key)
    }

    /// Renders again and returns the SHA-256 of the result.
    private func again(
        _ render: RecordedRender, _ asset: AssetPath, _ scratch: FilePath
    ) async throws -> String {
        let source = try await library.open(render.source)
        // Unique, because several assets may be verified in one folder at the same time.
        let result = scratch.appending(UUID().uuidString)
        // Deleted immediately, so that at most one is on disk.
        defer { unlink(result.string) }
        return try await FileRenderer(pool: pool, settings: settings).render(
            source, render.recipe, for: Borrower(.photo(asset.string)), to: result,
            contentIdentifier: render.rendering.contentIdentifier
        ).output.digest
    }
}

/// The versions of this machine's libraries, which are asked for when the first record names some.
private actor LibrariesHere {
    private let pool: RenderPool
    private var versions: [RenderProgram.Kind: Task<[String: String], any Error>] = [:]

    init(_ pool: RenderPool) { self.pool = pool }

    /// Returns why other bytes may be made here than a record's; nil if they must be the same.
    ///
    /// - Throws: `rendererUnavailable`.
    func difference(of origin: RenderOrigin) async throws -> String? {
        let names = Set((origin.libraries ?? [:]).keys)
        var here: [String: String] = [:]
        if !names.subtracting(UsedLibraries.texts).isEmpty {
            here = try await versions(of: .photos)
        }
        if !names.isDisjoint(with: UsedLibraries.texts) {
            here.merge(try await versions(of: .texts)) { first, _ in first }
        }
        return origin.difference(fromRender: Engine.render, with: here)
    }

    private func versions(of program: RenderProgram.Kind) async throws -> [String: String] {
        let pool = pool
        let asking =
            versions[program] ?? Task { try await pool.libraries(of: program).byName }
        versions[program] = asking
        return try await asking.value
    }
}
