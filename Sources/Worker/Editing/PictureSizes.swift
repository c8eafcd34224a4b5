public import Edits
public import Files
public import RenderPool
import RenderProtocol

/// The sizes of the pictures on which steps of an edit depend, such as the logo of a mark.
extension RenderPool {
    /// Returns the upright sizes of pictures, which a child reads from their headers. Missing files are omitted: resolving an edit reports
    /// them by the step's path.
    ///
    /// The worker checks itself that a file has the content of its digest. So the same digest always gives the same size, and a render
    /// child that finds another one in the file is not believed.
    ///
    /// - Parameter files: the files of resources, by digest.
    /// - Throws: `badResource` if a file is no picture, or has another content.
    public func sizes(
        of digests: Set<String>, in files: [String: OpenFile], for borrower: Borrower
    ) async throws -> [String: PixelSize] {
        var sizes: [String: PixelSize] = [:]
        for digest in digests.sorted() {
            guard let file = files[digest] else { continue }
            let found = try await offPool { () throws(Failure) in try FileDigest.hex(of: file) }
            guard "sha256:" + found == digest else {
                throw Failure(
                    .badResource,
                    "The file of \(digest) has content that does not match its name: \(found).")
            }
            do {
                let header = try await inspect(
                    PhotoRequest(recipe: Recipe(filters: []), limits: RenderLimits()),
                    RenderFiles(sources: [file]), for: borrower
                ).header
                guard header.movie == nil else {
                    throw Failure(.unsupportedFormat, "\(digest) is a movie.")
                }
                sizes[digest] = header.uprightSize
            } catch let failure as Failure where failure.code.isOfPhoto {
                throw Failure(
                    .badResource,
                    "The file of an edit is no picture that can be used: \(failure.message)")
            }
        }
        return sizes
    }
}

extension AssetEditor {
    /// Returns the upright sizes of pictures among the resources of the borrower's owner. Missing ones are omitted.
    func pictureSizes(
        _ digests: Set<String>, for borrower: Borrower
    ) async throws -> [String: PixelSize] {
        guard !digests.isEmpty else { return [:] }
        let files = try await offPool { () throws(Failure) in
            try [String: OpenFile].opened(digests, of: borrower.owner, in: self.resources)
        }
        return try await pool.sizes(of: digests, in: files, for: borrower)
    }
}

extension Edit.Mode {
    /// The digests of the pictures on whose sizes its steps depend.
    var sizedPictures: Set<String> {
        switch self {
        case .replace(let steps), .append(let steps): steps.sizedPictures
        case .amend, .revert, .undo, .redo, .copyEdit, .render, .import, .renditions, .publish,
            .discard:
            []
        }
    }
}

extension FailureCode {
    /// Whether it is about the content of a photo.
    fileprivate var isOfPhoto: Bool {
        [
            .emptyFile, .unsupportedFormat, .unsupportedMediaType, .damagedPhoto, .damagedVideo,
            .tooManyPixels, .exceedsLimit,
        ].contains(self)
    }
}
