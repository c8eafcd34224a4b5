import BlobStore
public import Edits
import Library

/// What a queue has to find again although its Redis has lost it.
extension BucketLibrary {
    public func note(of queue: String) async throws(Failure) -> [UInt8]? {
        try await store.document(keys.note(of: queue), atMost: LibraryIdentity.bytesMax)?.bytes
    }

    public func keep(_ note: [UInt8], of queue: String) async throws(Failure) {
        try await store.write(note, to: keys.note(of: queue))
    }
}
