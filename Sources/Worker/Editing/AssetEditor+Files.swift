public import Adjustments
public import Files
import Library
import RenderProtocol
import SystemPackage

/// The open files that renders need.
extension AssetEditor {
    /// A photo of the originals, opened; one that is longer than a photo may be is read by nobody.
    ///
    /// - Throws: as `LibraryStore.open(_:)`; `exceedsLimit`.
    func openPhoto(_ path: AssetPath, of tenant: String) async throws(Failure) -> OpenFile {
        let file = try await library.open(.original(path)) { beginning, bytes in
            await refusal(of: path, beginning, bytes, tenant)
        }
        try limits.check(.bytes, try file.length(), of: path.string)
        return file
    }

    /// Why a photo is too large, as the beginning of its file says.
    ///
    /// Without a slot: it takes milliseconds, and the rest of the file waits for it. All else is said of the whole file:
    /// what is cut off looks damaged.
    func refusal(
        of path: AssetPath, _ beginning: OpenFile, _ bytes: Int, _ tenant: String
    ) async -> Failure? {
        do {
            try limits.check(.bytes, bytes, of: path.string)
            var limits = limits
            // The beginning has fewer bytes for the same pixels. So many no photo has, and a product with its bytes fits.
            limits.densityMax = 1 << 30
            _ = try await pool.inspect(
                PhotoRequest(recipe: Recipe(filters: []), limits: limits),
                RenderFiles(sources: [beginning]), tenant: tenant)
        } catch let failure as Failure
            where [.exceedsLimit, .tooManyPixels].contains(failure.code)
        {
            return failure
        } catch {
            return nil
        }
        return nil
    }

    /// The photo and the files that a recipe names.
    func files(_ source: OpenFile, for recipe: Recipe) throws(Failure) -> RenderFiles {
        RenderFiles(sources: [source], resources: try .opened(for: recipe, in: resources))
    }

    /// The same with places for results and a spool, in a staged version.
    func files(
        _ files: RenderFiles, for request: PhotoRequest, in staged: StagedVersion
    ) throws(Failure) -> RenderFiles {
        var files = files
        files.outputs = []
        for _ in request.outputs { files.outputs.append(try library.staging.scratch(for: staged)) }
        files.spool = try library.staging.scratch(for: staged)
        return files
    }

    /// Takes a result over.
    ///
    /// - Parameters:
    ///   - name: its path in the staged version.
    ///   - sourceBytes: length of the photo: what is only copied is as long.
    /// - Throws: `untrustedRender` when it is not what it has to be.
    func take(
        _ result: OpenFile, as name: String, _ expected: RenderedResult, sourceBytes: Int,
        into staged: StagedVersion
    ) throws(Failure) -> Content.Image {
        let most = expected.bytesMax(source: sourceBytes)
        guard try result.length() <= most else {
            throw RenderedResult.refusal("has more than the \(most) bytes that it can have")
        }
        // First: what is no picture is not copied, however long it says that it is. It may change until it is copied.
        if case .copy = expected.size {} else { try expected.check(result) }
        let digest = try library.staging.take(result, as: name, into: staged, bytesMax: most)
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
            name: name, mediaType: expected.format.mediaType, size: size, bytes: digest.bytes,
            sha256: digest.hex)
    }
}

extension [String: OpenFile] {
    /// The files that a recipe names, opened; those that are not there are left out, and missed by the render.
    ///
    /// - Parameter folder: of the files, each named by its digest; nil when there is none.
    /// - Throws: `exceedsLimit` when there are too many, `ioFailure`.
    public static func opened(
        for recipe: Recipe, in folder: String?
    ) throws(Failure) -> [String: OpenFile] {
        var files: [String: OpenFile] = [:]
        guard let folder else { return files }
        let digests = recipe.resourceDigests
        guard digests.count <= resourcesMax else {
            throw Failure(
                .exceedsLimit,
                "the edit names \(digests.count) files; at most \(resourcesMax) are read for one photo."
            )
        }
        for digest in digests {
            do throws(Failure) {
                files[digest] = try OpenFile(
                    reading: "\(folder)/\(digest.dropFirst("sha256:".count))", name: digest)
            } catch  where error.code == .missingAsset {
                continue
            }
        }
        return files
    }

    /// Most files that one edit may name: each is a descriptor of the child.
    private static var resourcesMax: Int { 32 }
}
