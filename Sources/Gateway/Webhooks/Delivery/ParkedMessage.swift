/// A failed message that is retried: its subject and the number of failed attempts. It is a member of a zset.
///
/// The event itself stays in the event stream; if it is trimmed there, a gap is reported in its place.
struct ParkedMessage: Sendable, Hashable {
    /// The subject of the message.
    enum Subject: Sendable, Hashable {
        /// An entry of the event stream.
        case entry(String)
        /// Events that were trimmed: after the first id, before the second.
        case gap(from: String, to: String)
    }

    let subject: Subject
    /// The number of failed attempts.
    let failures: Int

    /// `3 1763700000000-0`, `1 1763700000000-0 1763800000000-0`.
    var text: String {
        switch subject {
        case .entry(let id): "\(failures) \(id)"
        case .gap(let from, let to): "\(failures) \(from) \(to)"
        }
    }

    init(_ subject: Subject, failures: Int) {
        self.subject = subject
        self.failures = failures
    }

    init?(_ text: String) {
        let fields = text.split(separator: " ").map(String.init)
        guard (2...3).contains(fields.count), let failures = Int(fields[0]), failures >= 0 else {
            return nil
        }
        self.failures = failures
        subject = fields.count == 2 ? .entry(fields[1]) : .gap(from: fields[1], to: fields[2])
    }
}
