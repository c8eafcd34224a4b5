package import Edits
package import JobQueue
package import Library

package enum LibraryPlace {
    /// Refuses a place that is no library, or does not say that it is the queue's.
    ///
    /// A library of its own id is let through: a worker compares it with the queue's.
    ///
    /// - Parameters:
    ///   - contents: reads the contents of the place.
    ///   - library: reads the library of the queue.
    /// - Throws: `invalidValue` with a remedy, and what the readers throw.
    package static func check(
        _ place: String, for queue: QueueName,
        contents: () async throws -> LibraryFolder.Contents,
        library: () async throws -> QueueLibrary?
    ) async throws {
        switch try await contents() {
        case .library: return
        case .unmarked:
            guard let own = try await library() else { return }
            // Another process may have begun the library since: it makes library.json before it tells the queue.
            if case .library = try await contents() { return }
            throw Failure(
                .invalidValue,
                "queue \(queue) has the library \(own.id) (\(own.name)), and \(place) does not say which library "
                    + "it is: it has no library.json. Is the right disk mounted? If this is the queue's library from now "
                    + "on: minilab library create, then minilab library use.")
        case .nothing:
            throw noLibrary(at: place)
        }
    }

    /// The failure of a command that makes no new library, at a place without one.
    package static func noLibrary(at place: String) -> Failure {
        Failure(
            .invalidValue,
            "there is no library at \(place): it has neither library.json nor originals. Is the disk mounted, and "
                + "the name right? To begin a new library there: minilab library create.")
    }
}
