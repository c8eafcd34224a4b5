package import Edits
import FoundationEssentials
package import JobQueue
package import Redis

/// A record of a ``RecordStore``: a JSON object whose `format` says by which minilab it can be read.
package protocol StoredRecord: Codable, Equatable, Sendable {
    associatedtype Code: RecordErrorCode

    /// The format that this minilab writes and reads.
    static var formatKnown: Int { get }
    /// The word for such a record in messages, and that for all of them: `key`, `keys`.
    static var noun: String { get }
    static var nouns: String { get }
    /// The advice for a person about a record of a newer minilab, and about one that cannot be read.
    static var advice: (later: String, damaged: String) { get }

    /// - Throws: If the record's content is not possible.
    func check(id: String) throws
}

/// The codes of errors that every ``RecordStore`` has.
package protocol RecordErrorCode: ErrorCode {
    static var laterFormat: Self { get }
    static var damaged: Self { get }
    static var contended: Self { get }
    static var redis: Self { get }
}

private struct RecordFormat: Decodable { let format: Int }

extension StoredRecord {
    package func check(id: String) throws {}

    /// - Throws: `damaged`, `laterFormat`.
    package static func decode(_ json: [UInt8], of id: String) throws(CodedError<Code>) -> Self {
        let data = Data(json)
        let format: Int
        do {
            format = try JSONDecoder().decode(RecordFormat.self, from: data).format
            if format == formatKnown {
                let record = try JSONDecoder().decode(Self.self, from: data)
                try record.check(id: id)
                return record
            }
        } catch {
            throw CodedError(
                .damaged,
                "the record of \(noun) \(id) cannot be read (\(error.decodingReason)). \(advice.damaged)"
            )
        }
        throw CodedError(
            .laterFormat,
            "\(noun) \(id) is of format \(format), but this minilab reads up to \(formatKnown): a newer one made it. "
                + advice.later)
    }

    /// - Throws: `damaged`, which does not occur for a checked record.
    package func encoded(as id: String) throws(CodedError<Code>) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(self))
        } catch {
            throw CodedError(
                .damaged, "\(Self.noun) \(id) cannot be written as JSON: \(error)")
        }
    }
}

/// Records of one kind in a ``RecordHash``, with errors as sentences.
package struct RecordStore<Record: StoredRecord>: Sendable {
    package typealias Problem = CodedError<Record.Code>

    package let hash: RecordHash
    package let queue: QueueName
    /// The attempts of a change while other clients change the same record.
    package static var triesMax: Int { 5 }

    package init(_ hash: RecordHash, of queue: QueueName) {
        (self.hash, self.queue) = (hash, queue)
    }

    package func all() async throws(Problem) -> [String: [UInt8]] {
        do { return try await hash.all() } catch { throw failure(error) }
    }

    package func allDecoded() async throws(Problem) -> [String: Result<Record, Problem>] {
        var all: [String: Result<Record, Problem>] = [:]
        for (id, record) in try await self.all() {
            do throws(Problem) {
                all[id] = .success(try Record.decode(record, of: id))
            } catch {
                all[id] = .failure(error)
            }
        }
        return all
    }

    package func bytes(_ id: String) async throws(Problem) -> [UInt8]? {
        do { return try await hash.record(id) } catch { throw failure(error) }
    }

    package func record(_ id: String) async throws(Problem) -> Record? {
        guard let bytes = try await bytes(id) else { return nil }
        return try Record.decode(bytes, of: id)
    }

    /// Replaces a record if it is still as it was read: see ``RecordHash/replace(_:_:with:within:)``.
    package func replace(
        _ id: String, _ old: [UInt8]?, with new: Record?, within share: RecordHash.Share? = nil
    ) async throws(Problem) -> RecordHash.Change {
        let new = try new?.encoded(as: id)
        do {
            return try await hash.replace(id, old, with: new, within: share)
        } catch {
            throw failure(error)
        }
    }

    /// Repeats an attempt that returns nil because another client has changed the record meanwhile.
    ///
    /// - Throws: `contended`; the error of `attempt`.
    package func untilMade<Result>(
        _ what: String, _ attempt: () async throws(Problem) -> Result?
    ) async throws(Problem) -> Result {
        for _ in 0..<Self.triesMax {
            if let result = try await attempt() { return result }
        }
        throw Problem(
            .contended,
            "\(what) was changed by others \(Self.triesMax) times in a row; try again.")
    }

    package func failure(_ error: RedisError) -> Problem {
        Problem(.redis, "the \(Record.nouns) of queue \(queue): \(error)", cause: error)
    }
}
