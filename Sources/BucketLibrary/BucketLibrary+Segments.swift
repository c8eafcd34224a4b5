public import Adjustments
import BlobStore
public import Files
public import Library
import SystemPackage

/// Parts of movies that are being rendered, as objects that the store compares with their digests.
extension BucketLibrary {
    public func readSegment(
        _ name: SegmentName, into place: OpenFile
    ) async throws(Failure) -> Bool {
        let key = try keys.segment(name)
        try await offPool { () throws(Failure) in try place.cut(to: 0) }
        var download: (writer: RangeWriter, found: Blob)
        do throws(BlobError) {
            let found = try await store.head(key)
            var writer = RangeWriter(place, 0..<found.size, isDigested: true)
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

    public func keepSegment(_ part: OpenFile, as name: SegmentName) async throws(Failure) {
        let key = try keys.segment(name)
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

    public func forgetSegments(of render: RenderKey) async throws(Failure) {
        try await removeObjects(keys.segmentsPrefix(of: render)) { _ in true }
    }

    public func forgetOldSegments() async throws(Failure) {
        let newest = now - SegmentName.age
        try await removeObjects(LibraryKeys.segmentsPrefix) { entry in
            entry.modified.map { $0.seconds < newest } ?? false
        }
    }
}
