/// The kinds of events that endpoints can subscribe to: the types of `jobs/event.schema.json`.
package enum WebhookEventTypes {
    private static let prefix = "org.minilab."

    /// All kinds, as CloudEvents' `type`.
    package static let all: Set<String> = Set(
        [
            "job.completed", "job.drafted", "job.unchanged", "job.superseded", "job.previewed",
            "job.progressed", "job.failed", "job.retried", "job.conflict", "job.stuck",
            "job.cancelled", "batch.completed", "batch.conflict", "batch.sealed", "stream.harmed",
        ].map { prefix + $0 })

    /// The default kinds of an endpoint: one message per batch and per failure, not a million.
    package static let usual: Set<String> = [prefix + "batch.completed", prefix + "job.failed"]

    /// The type of the message that reports a gap: events were trimmed before they could be delivered.
    static let gap = prefix + "webhook.gap"
    /// The type of a test message that a client requested.
    static let test = prefix + "webhook.test"

    /// Decodes names, with or without `org.minilab.`.
    ///
    /// - Throws: `invalidEventTypes`.
    package static func read(_ names: some Sequence<String>) throws(WebhookError) -> Set<String> {
        var types: Set<String> = []
        for name in names {
            let type = name.hasPrefix(prefix) ? name : prefix + name
            guard all.contains(type) else {
                throw WebhookError(
                    .invalidEventTypes,
                    "\(String(name.prefix(80)).debugDescription) is no kind of event; known: "
                        + all.sorted().map { $0.dropFirst(prefix.count) }.joined(separator: ", ")
                        + ".")
            }
            types.insert(type)
        }
        guard !types.isEmpty else {
            throw WebhookError(
                .invalidEventTypes, "name at least one type of events.")
        }
        return types
    }
}
