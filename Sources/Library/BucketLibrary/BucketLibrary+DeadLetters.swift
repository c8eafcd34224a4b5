import BlobStore
public import Edits
import Files
public import FoundationEssentials
public import Library
import NIOCore
import SystemPackage

/// Dead jobs that Redis does not keep: an object for each addition, because no object of a bucket grows.
extension BucketLibrary {
    public func append(
        deadLetters lines: [UInt8], of queue: String, at time: Date
    ) async throws(Failure) -> String {
        try await checkPresence()
        let place = LibraryKeys.deadLetters(of: queue, at: time)
        let random = UInt64.random(in: .min ... .max)
        let key = try keys.deadLetters(
            place + "\(DeadLetterFile.stamp(time))-\(String(random, radix: 16))")
        try await repeatably { () throws(BlobError) in
            try await store.put(
                key, lines, if: .always, BlobAttributes(mediaType: "application/x-ndjson"))
        }
        return "\(settings.name)/\(place)"
    }

    /// The names of objects tell their times, so that later ones are not read.
    public func forEachDeadLetterFile(
        at place: String, of queue: String, until time: Date,
        _ body: (DeadLetterFile) async throws -> Void
    ) async throws -> [String: Int] {
        let root = settings.name + "/"
        var prefix = String(place.dropFirst(place.hasPrefix(root) ? root.count : 0))
        // All of them: `dead` is written as a folder is.
        if prefix + "/" == LibraryKeys.deadPrefix { prefix += "/" }
        guard place.hasPrefix(root), prefix.hasPrefix(LibraryKeys.deadPrefix) else {
            throw Failure(
                .invalidValue,
                "\(place) is no place of dead jobs of the library \(settings.name): expected \(root)\(LibraryKeys.deadPrefix)…; "
                    + "name its library with --library.")
        }
        let last = DeadLetterFile.stamp(time)
        var after: BlobKey?
        var isEmpty = true
        var others: [String: Int] = [:]
        repeat {
            let start = after
            let page = try await storeCall { () throws(BlobError) in
                try await store.list(prefix, after: start)
            }
            for entry in page.entries {
                guard let stamp = LibraryKeys.stamp(ofDeadLetters: entry.key), stamp <= last else {
                    continue
                }
                isEmpty = false
                if let named = LibraryKeys.queue(ofDeadLetters: entry.key), named != queue {
                    others[named, default: 0] += 1
                    continue
                }
                try await body(try await read(entry.key))
            }
            after = page.next
        } while after != nil
        if isEmpty { throw DeadLetterFile.nothing(at: place) }
        return others
    }

    /// Reads an object into a nameless file of this machine.
    private func read(_ key: BlobKey) async throws(Failure) -> DeadLetterFile {
        let (scratch, name) = (staging.root.string, location(key))
        let file = try await offPool { () throws(Failure) in
            try OpenFile.nameless(in: scratch, name: name)
        }
        var position = 0
        do throws(BlobError) {
            try await store.get(key, nil, ifMatch: nil) { bytes in
                try bytes.withUnsafeReadableBytes { try file.write($0, at: position) }
                position += bytes.readableBytes
            }
        } catch {
            throw error.failure()
        }
        return try DeadLetterFile(file)
    }
}
