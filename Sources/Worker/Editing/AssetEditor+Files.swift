public import Edits
public import Files
import FoundationEssentials
import Library
import RenderPool
import RenderProtocol
import SystemPackage
import Telemetry
import Tracing

/// The open files that renders need.
extension AssetEditor {
    /// Opens a photo of the originals. A file beyond the size limit of photos is not read.
    ///
    /// - Throws: the failures of `LibraryReader.open(_:)`; `exceedsLimit`.
    func openPhoto(_ path: AssetPath, for borrower: Borrower) async throws(Failure) -> OpenFile {
        let file = try await inSpan("fetch") { _ throws(Failure) in
            try await library.open(.original(path)) { beginning, bytes in
                await refusal(of: path, beginning, bytes, borrower)
            }
        }
        try limits.check(.bytes, try file.length(), of: path.string)
        return file
    }

    /// Returns the failure if the beginning of the file shows that the photo is too large.
    ///
    /// It takes no slot: it needs milliseconds, and the transfer of the rest waits for it. Other failures are
    /// determined from the whole file, because a truncated file looks damaged.
    func refusal(
        of path: AssetPath, _ beginning: OpenFile, _ bytes: Int, _ borrower: Borrower
    ) async -> Failure? {
        do {
            try limits.check(.bytes, bytes, of: path.string)
            var limits = limits
            // The beginning has fewer bytes for the same pixels, so the density limit must not apply. No photo has
            // this density, and its product with a length in bytes does not overflow.
            limits.densityMax = 1 << 30
            _ = try await pool.inspect(
                PhotoRequest(recipe: Recipe(filters: []), limits: limits),
                RenderFiles(sources: [beginning]), for: borrower)
        } catch let failure as Failure
            where [.exceedsLimit, .tooManyPixels].contains(failure.code)
        {
            return failure
        } catch {
            return nil
        }
        return nil
    }

    /// Returns the photo and the resources that a recipe and the marks of renditions name.
    func files(
        _ source: OpenFile, for recipe: Recipe, renditions: [Rendition] = [], of owner: Owner
    ) throws(Failure) -> RenderFiles {
        RenderFiles(
            sources: [source],
            resources: try .opened(
                for: recipe, renditions: renditions, of: owner, in: resources))
    }

    /// Adds files for results and a spool, in a staged version.
    func files(
        _ files: RenderFiles, for request: PhotoRequest, in staged: StagedVersion
    ) throws(Failure) -> RenderFiles {
        var files = files
        files.outputs = []
        for _ in request.outputs { files.outputs.append(try library.staging.scratch(for: staged)) }
        files.spool = try library.staging.scratch(for: staged)
        return files
    }

    /// Accepts a child's result: checks it and copies it into the staged version.
    ///
    /// - Parameters:
    ///   - name: its path in the staged version.
    ///   - sourceBytes: the length of the photo, which is also the length of a mere copy.
    /// - Throws: `untrustedRender` if the result does not match the plan.
    func accept(
        _ result: OpenFile, as name: String, _ expected: RenderedResult, sourceBytes: Int,
        into staged: StagedVersion
    ) throws(Failure) -> Content.Image {
        let most = expected.bytesMax(source: sourceBytes)
        guard try result.length() <= most else {
            throw RenderedResult.refusal("has more than the \(most) bytes that it can have")
        }
        // Checked before copying, so that a file that is no picture is not copied, whatever its length. The child
        // may still change it, so the copy is checked again.
        if case .copy = expected.size {} else { try expected.check(result) }
        let digest = try library.staging.copy(result, as: name, into: staged, bytesMax: most)
        let size: PixelSize
        if case .copy(let sha256, let known) = expected.size {
            guard digest.hex == sha256 else {
                throw RenderedResult.refusal("is not the copy of the photo that was planned")
            }
            size = known
        } else {
            size = try expected.check(
                OpenFile(reading: library.staging.folder(of: staged).pushing(FilePath(name)).string)
            )
        }
        return Content.Image(
            name: name,
            MadeFile(
                mediaType: expected.format.mediaType, size: size, bytes: digest.bytes,
                sha256: digest.hex))
    }
}

extension [String: OpenFile] {
    /// Opens the resources that a recipe and the pictures of marks name. Missing ones are omitted; the render reports them.
    ///
    /// - Parameters:
    ///   - renditions: the renditions whose marks have pictures.
    ///   - owner: the owner of the photo. A tenant gets the resources of all tenants and its own; the operator gets
    ///     each, also for photos whose tenant is not known.
    ///   - folder: the folder of resources, each named by its digest, with those of one tenant in `tenants/NAME`;
    ///     nil: none.
    /// - Throws: `exceedsLimit` if there are too many; `ioFailure`.
    public static func opened(
        for recipe: Recipe, renditions: [Rendition] = [], of owner: Owner, in folder: String?
    ) throws(Failure) -> [String: OpenFile] {
        try opened(
            renditions.reduce(recipe.resourceDigests) { $0.union($1.pictureDigests) }, of: owner,
            in: folder)
    }

    /// Opens resources by their digests. Missing ones are omitted.
    ///
    /// - Throws: `exceedsLimit` if there are too many; `ioFailure`.
    static func opened(
        _ digests: Set<String>, of owner: Owner, in folder: String?
    ) throws(Failure) -> [String: OpenFile] {
        try found(digests, of: owner, in: folder).mapValues(\.file)
    }

    /// Opens resources by their digests, and says which of them lie in the folder of all tenants.
    fileprivate static func found(
        _ digests: Set<String>, of owner: Owner, in folder: String?
    ) throws(Failure) -> [String: (file: OpenFile, isShared: Bool)] {
        var files: [String: (file: OpenFile, isShared: Bool)] = [:]
        guard let folder else { return files }
        guard digests.count <= resourcesMax else {
            throw Failure(
                .exceedsLimit,
                "the edit names \(digests.count) files; at most \(resourcesMax) are read for one photo."
            )
        }
        for digest in digests {
            for place in try places(of: owner, in: folder) where files[digest] == nil {
                do throws(Failure) {
                    let file = try OpenFile(
                        reading: "\(place)/\(digest.dropFirst("sha256:".count))", name: digest)
                    files[digest] = (file, isShared: place == folder)
                } catch  where error.code == .missingAsset {
                    continue
                }
            }
        }
        return files
    }

    /// Returns the folders with the resources of an owner.
    ///
    /// - Throws: `ioFailure` if the folders of tenants cannot be listed.
    private static func places(
        of owner: Owner, in folder: String
    ) throws(Failure) -> [String] {
        let tenants = folder + "/tenants"
        switch owner {
        case .tenant(let tenant): return [folder, "\(tenants)/\(tenant.string)"]
        case .operator, .photo:
            // Without the folder, no tenant has resources of its own.
            let names = try FileSystem().list(FilePath(tenants))
            return [folder] + names.map { "\(tenants)/\($0)" }
        }
    }

    /// The most resources that one edit may name. Each is an open descriptor of the child.
    private static var resourcesMax: Int { 32 }
}

extension OwnedFonts {
    /// Opens the fonts that texts name, as ``Swift/Dictionary/opened(for:renditions:of:in:)`` opens other resources.
    ///
    /// - Throws: `exceedsLimit` if there are too many; `ioFailure`.
    static func opened(
        _ digests: Set<String>, of owner: Owner, in folder: String?
    ) throws(Failure) -> OwnedFonts {
        let found = try [String: OpenFile].found(digests, of: owner, in: folder)
        return OwnedFonts(
            found.mapValues(\.file), ofOwner: Set(found.filter { !$0.value.isShared }.keys))
    }
}
