public import Edits
import Redis

/// The library that the jobs of a queue are about, by its identity.
public struct QueueLibrary: Sendable, Equatable {
    public let id: String
    /// Its place for people: a folder, or a URL without settings.
    public let name: String
    /// Whether a worker has seen a file in the folder of its resources.
    public var hasResources: Bool

    public init(id: String, name: String, hasResources: Bool = false) {
        (self.id, self.name, self.hasResources) = (id, name, hasResources)
    }

    /// The sentence for a worker whose library is this one, and whose queue has another one; nil if it has this one.
    public func refusal(byQueueOf other: QueueLibrary, _ queue: QueueName) -> String? {
        guard id != other.id else { return nil }
        return
            "queue \(queue) has the library \(other.id) (\(other.name)), and \(name) is the library \(id). Edits of one "
            + "photo would go to two places. Give the workers of a queue one library. If it has moved here: stop all "
            + "workers, then minilab library use."
    }
}

/// A queue has one library. Its first worker states it, every worker compares.
extension JobQueue {
    /// Returns the library of the queue; nil if no worker has stated one yet.
    public func library() async throws(QueueError) -> QueueLibrary? {
        let reply =
            try await send("HMGET", name.keys.library, "id", "name", "resources").array ?? []
        guard reply.count == 3, let id = reply[0].string else { return nil }
        return QueueLibrary(
            id: id, name: reply[1].string ?? "", hasResources: reply[2].string == "1")
    }

    /// States the library of a worker. The queue has it from then on, unless it has another one.
    ///
    /// - Parameter takesPlace: whether it takes the place of another one.
    /// - Returns: the library that the queue has.
    public func join(
        _ library: QueueLibrary, takesPlace: Bool = false
    ) async throws(QueueError) -> QueueLibrary {
        let reply = try await run(
            QueueScript.joinLibrary, library.id, library.name, takesPlace, library.hasResources)
        guard let parts = reply.array?.map(\.string), parts.count == 3, let id = parts[0],
            let name = parts[1]
        else { throw unexpected(reply, of: QueueScript.joinLibrary) }
        return QueueLibrary(id: id, name: name, hasResources: parts[2] == "1")
    }

    /// Refuses a library that is not the queue's.
    ///
    /// - Returns: the library that the queue has.
    /// - Throws: `otherLibrary`.
    @discardableResult
    public func insist(on library: QueueLibrary) async throws(QueueError) -> QueueLibrary {
        let own = try await join(library)
        guard let sentence = library.refusal(byQueueOf: own, name) else { return own }
        throw QueueError(.otherLibrary, sentence)
    }

    /// The beginning of the name of a library in a bucket.
    private static let bucketScheme = "s3://"

    /// Returns a warning for each worker that claims no jobs because of its library, and for dead jobs that no library has: releases
    /// before 0.6.0 moved those of a library in a bucket to a worker's machine.
    func libraryWarnings() async throws(QueueError) -> [String] {
        let own = try await library()
        var warnings: [String] = []
        if let own, own.name.hasPrefix(Self.bucketScheme) {
            for place in try await spillFiles() where !place.file.hasPrefix(Self.bucketScheme) {
                warnings.append(
                    "\(place.jobs) dead jobs were moved to \(place.file), in the scratch folder of a worker's machine: copy the "
                        + "file from there while the machine lives, and give it to minilab replay --file."
                )
            }
        }
        return try await warnings
            + workers().compactMap { worker in
                if let trouble = worker.trouble {
                    return "worker \(worker.name) claims no jobs: \(trouble)"
                }
                guard let own, let id = worker.library, id != own.id else { return nil }
                return
                    "worker \(worker.name) has the library \(id), and the queue has \(own.id) (\(own.name)): edits of one "
                    + "photo go to two places. Stop it, or give it the queue's."
            }
    }
}
