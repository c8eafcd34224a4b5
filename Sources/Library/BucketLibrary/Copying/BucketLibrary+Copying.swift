package import Edits
import BlobStore
package import Files
package import Library
import SystemPackage

extension BucketLibrary: CopyableLibrary {
    package func originals(
        _ page: (OriginalsPage) async throws(Failure) -> Void
    ) async throws(Failure) {
        let prefix = keys.originalsPrefix
        var last: BlobKey?
        repeat {
            let start = last
            let listed = try await storeCall { () throws(BlobError) in
                try await self.originals.list(prefix, after: start)
            }
            var found = OriginalsPage()
            for key in listed.entries.map(\.key.text) {
                let name = String(decoding: key.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
                // Storage consoles create such an object for an empty folder.
                if !name.utf8.elementsEqual("".utf8), name.utf8.last != UInt8(ascii: "/") {
                    found.add(name)
                }
            }
            try await page(found)
            last = listed.next
        } while last != nil
    }

    package func isEdited(_ asset: AssetPath) async throws(Failure) -> Bool {
        try await exists(keys.head(of: asset))
    }

    /// Does nothing: objects are complete or absent, and gc removes those that no head names.
    package func sweepCopies() async throws(Failure) {}

    package func copy(
        original source: OpenFile, _ digest: StoredDigest, of asset: AssetPath
    ) async throws(Failure) {
        // Multipart uploads do not support conditions: if another program writes the same name during the upload,
        // its object is overwritten.
        let condition = digest.bytes <= BlobCondition.bytesMax ? BlobCondition.absent : .always
        try await put(
            source, digest, to: keys.original(of: asset), in: originals, nil, if: condition)
    }

    /// Writes an open file. The store compares its bytes with the digest.
    ///
    /// - Throws: `revisionConflict` if the condition requires that no object exists, and one with other bytes does.
    func put(
        _ source: OpenFile, _ digest: StoredDigest, to key: BlobKey, in store: any BlobStore,
        _ file: RecordedFile?, if condition: BlobCondition = .always
    ) async throws(Failure) {
        guard let hash = BlobDigest(hex: digest.sha256) else {
            throw Failure(
                .internalError,
                "the digest of \(source.name) is \(digest.sha256.debugDescription).")
        }
        var hasOtherBytes = false
        try await repeatably { () throws(BlobError) in
            do throws(BlobError) {
                try await store.put(
                    key,
                    .file(
                        SystemPackage.FileDescriptor(rawValue: source.descriptor),
                        size: digest.bytes),
                    digest: hash, if: condition,
                    BlobAttributes(
                        mediaType: file?.mediaType, usesStorageClass: file?.isRender ?? false))
            } catch {
                guard error.code == .precondition else { throw error }
                // It may be from this call, if a reply was lost.
                let found = try await store.head(key)
                hasOtherBytes =
                    found.size != digest.bytes || found.digest.map { $0 != hash } ?? false
            }
        }
        withExtendedLifetime(source) {}
        guard !hasOtherBytes else {
            throw Failure(
                .revisionConflict,
                "another program put another object at \(location(key)) while \(source.name) was copied there. Remove "
                    + "the wrong one, "
                    + "and copy again.")
        }
    }
}
