package import Adjustments
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
            let place = last
            let listed = try await saying { () throws(BlobError) in
                try await self.originals.list(prefix, after: place)
            }
            var found = OriginalsPage()
            for key in listed.entries.map(\.key.text) {
                let name = String(decoding: key.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
                // What consoles make for an empty folder.
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

    /// Nothing is to be done: objects are there whole or not at all, and those of no head are gc's.
    package func sweepCopies() async throws(Failure) {}

    package func take(
        original source: OpenFile, _ digest: StoredDigest, of asset: AssetPath
    ) async throws(Failure) {
        try await put(source, digest, to: keys.original(of: asset), in: originals, nil)
    }

    /// Writes an open file; the store compares its bytes with the digest.
    func put(
        _ source: OpenFile, _ digest: StoredDigest, to key: BlobKey, in store: any BlobStore,
        _ file: RecordedFile?
    ) async throws(Failure) {
        guard let hash = BlobDigest(hex: digest.sha256) else {
            throw Failure(
                .internalError,
                "the digest of \(source.name) is \(digest.sha256.debugDescription).")
        }
        try await repeatably { () throws(BlobError) in
            try await store.put(
                key,
                .file(
                    SystemPackage.FileDescriptor(rawValue: source.descriptor), size: digest.bytes),
                digest: hash, if: .always,
                BlobAttributes(
                    mediaType: file?.mediaType, usesStorageClass: file?.isRender ?? false))
        }
        withExtendedLifetime(source) {}
    }
}
