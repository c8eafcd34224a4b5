import Edits
import FoundationEssentials
import JobQueue
import Redis

/// An entry of the event stream.
struct StreamEvent: Sendable {
    /// Its id in the stream.
    let id: String
    /// The CloudEvent as the queue wrote it.
    let json: String
    /// The CloudEvent, decoded.
    let event: JobEvent

    init(_ entry: EventReader.Entry) {
        id = entry.id
        json = entry.json
        event = entry.event
    }

    /// Decodes a row of XRANGE.
    ///
    /// - Returns: The event; nil if the row is not an event that this minilab reads.
    init?(row: RedisReply) {
        guard let id = row.array?.first?.string,
            let bytes = row.array?.last?.array?.last?.bytes,
            // The reader that reads the stream in order reports such an entry.
            let event = try? JSONDecoder().decode(JobEvent.self, from: Data(bytes))
        else { return nil }
        self.id = id
        json = String(decoding: bytes, as: UTF8.self)
        self.event = event
    }

    /// Returns the time at which an entry was added, ms since 1970, from its id.
    static func milliseconds(of id: String) -> Int { Int(id.prefix { $0 != "-" }) ?? 0 }
}
