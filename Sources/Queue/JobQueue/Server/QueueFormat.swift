public import Edits
import Redis

/// The format of a queue: the meaning of the keys and sums that have no format of their own, such as the records of batches.
///
/// Hash `virtual` has it: `format`, and in `least` the lowest format that a program must know to use the queue. A queue without
/// them has format 1. QUEUE.md lists what has a number of its own.
package struct QueueFormat: Sendable, Equatable {
    /// The latest format that a program knows, and that it writes once no worker of an earlier one is left.
    package var known: Int
    /// The lowest format that a program must know to use a queue in which this one has written.
    package var least: Int

    /// The format of this release. From 2 on, the gateway's records have keys of their own (``GatewayKeys``), which a gateway of
    /// format 1 would look for in vain, and make anew where a worker can write them.
    package static let own = QueueFormat(known: 2, least: 2)

    /// Returns why a program of this format must leave a queue alone; nil if it may use it.
    ///
    /// - Parameter asked: how long ago the program found that it might use it; nil if it has done nothing yet.
    func refusal(of queue: QueueName, _ found: QueueFormat, since asked: Duration?) -> String? {
        guard found.least > known else { return nil }
        let done =
            asked.map {
                "It may have worked on the queue for up to \($0.components.seconds + 1) s since then, and ends."
            } ?? "It has changed nothing."
        return
            "queue \(queue) has format \(found.known), which a later release wrote: programs must know format \(found.least), and "
            + "this one knows \(known). \(done) Upgrade this program, or name another queue."
    }
}

extension JobQueue {
    /// Refuses a queue of a later release. A user that may not read its format passes, and may run no script either.
    ///
    /// - Throws: `laterFormat`; `redis`.
    public func checkFormat() async throws(QueueError) { _ = try await checkFormat(.own) }

    /// - Parameter asked: how long ago the program asked last; nil if it has done nothing yet.
    /// - Returns: the format that the queue has.
    func checkFormat(
        _ own: QueueFormat, since asked: Duration? = nil
    ) async throws(QueueError) -> QueueFormat {
        let fields: [RedisReply]
        do throws(QueueError) {
            fields = try await send("HMGET", name.keys.virtual, "format", "least").array ?? []
        } catch {
            guard error.isNotPermitted else { throw error }
            return own
        }
        let numbers = fields.map { $0.string.flatMap { Int($0) } ?? 1 }
        guard numbers.count == 2 else {
            throw QueueError(.unexpectedReply, "HMGET of queue \(name) answered \(fields).")
        }
        let found = QueueFormat(known: numbers[0], least: numbers[1])
        if let refusal = own.refusal(of: name, found, since: asked) {
            throw QueueError(.laterFormat, refusal)
        }
        return found
    }

    /// Raises the queue to the format of this program, unless a worker of an earlier one is left: that one would misread what is
    /// written from then on.
    ///
    /// - Returns: a worker of an earlier format; nil if the queue has the format, or a later one.
    func raiseFormat(_ own: QueueFormat = .own) async throws(QueueError) -> String? {
        let reply = try await run(QueueScript.raiseFormat, own.known, own.least)
        guard let older = reply.string else { throw unexpected(reply, of: QueueScript.raiseFormat) }
        return older.isEmpty ? nil : older
    }
}
