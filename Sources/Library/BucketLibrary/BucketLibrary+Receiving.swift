public import Edits
import BlobStore
public import Files
public import Library
import SystemPackage

/// Originals that are received over the network. They are first written to a nameless file of this machine, which
/// disappears after a crash.
extension BucketLibrary {
    public func receive(
        _ arrival: OriginalArrival,
        _ fill: (OpenFile) async throws(Failure) -> StoredDigest
    ) async throws(Failure) -> ReceivedOriginal {
        try arrival.checkName()
        try await checkPresence()
        let key = try keys.original(of: arrival.asset)
        guard try await originals.find(key) == nil else { return .isThere }
        let scratch = staging.root
        let file = try await offPool { () throws(Failure) in
            try arrival.checkSpace(DiskSpace(at: scratch).free, at: scratch.string)
            return try OpenFile.nameless(in: scratch.string, name: "an upload in \(scratch)")
        }
        let digest = try await fill(file)
        try arrival.check(digest)
        // Multipart uploads do not support conditions: if two clients send the same name at the same time, the
        // later one wins.
        let isWhole = arrival.bytes <= BlobCondition.bytesMax
        if !isWhole, try await originals.find(key) != nil { return .isThere }
        let condition = isWhole ? BlobCondition.absent : .always
        do throws(Failure) {
            try await put(file, digest, to: key, in: originals, if: condition)
        } catch {
            guard error.code == .revisionConflict else { throw error }
            return .isThere
        }
        await noteOriginals()
        return .added
    }

    /// Does nothing: objects are complete or absent, and the files have no names.
    public func sweepArrivals() async throws(Failure) {}
}
