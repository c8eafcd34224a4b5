public import Edits
import BlobStore
public import Files
public import Library
import SystemPackage

/// Parts of movies that are being rendered, as objects that the store compares with their digests.
extension BucketLibrary {
    public func readMoviePart(
        _ name: MoviePartName, into file: OpenFile
    ) async throws(Failure) -> Bool {
        let key = try keys.moviePart(name)
        try await offPool { () throws(Failure) in try file.cut(to: 0) }
        var download: (writer: RangeWriter, found: Blob)
        do throws(BlobError) {
            let found = try await store.head(key)
            var writer = RangeWriter(file, 0..<found.size, isDigested: true)
            try await writer.read(from: store, key, nil, ifMatch: found.tag)
            download = (writer, found)
        } catch {
            // Collected or replaced in the meantime.
            if error.code == .notFound || error.code == .changed { return false }
            throw error.failure()
        }
        try await download.writer.flush()
        return download.found.digest.map { $0.hex == download.writer.digest } ?? true
    }

    public func keepMoviePart(_ part: OpenFile, as name: MoviePartName) async throws(Failure) {
        let key = try keys.moviePart(name)
        let (hex, length) = try await offPool { () throws(Failure) in
            try FileDigest.sha256(of: part)
        }
        guard let digest = BlobDigest(hex: hex) else {
            throw Failure(.internalError, "a digest is \(hex.debugDescription).")
        }
        try await repeatably { () throws(BlobError) in
            try await self.store.put(
                key, .file(SystemPackage.FileDescriptor(rawValue: part.descriptor), size: length),
                digest: digest, if: .always,
                BlobAttributes(mediaType: "application/octet-stream"))
        }
        withExtendedLifetime(part) {}
    }

    public func removeMovieParts(of render: RenderKey) async throws(Failure) {
        try await removeObjects(keys.moviePartsPrefix(of: render)) { _ in true }
    }

    public func removeOldMovieParts() async throws(Failure) {
        let newest = now - MoviePartName.age
        try await removeObjects(LibraryKeys.moviePartsPrefix) { entry in
            entry.modified.map { $0.seconds < newest } ?? false
        }
    }
}
