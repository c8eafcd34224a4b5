import Redis

/// Reading and changing records, with errors as sentences.
extension WebhookStore {
    func all() async throws(WebhookError) -> [String: Result<StoredEndpoint, WebhookError>] {
        let records: [String: [UInt8]]
        do {
            records = try await self.records.all()
        } catch {
            throw failure(error)
        }
        var all: [String: Result<StoredEndpoint, WebhookError>] = [:]
        for (id, record) in records {
            do throws(WebhookError) {
                all[id] = .success(try StoredEndpoint.decode(record, of: id))
            } catch {
                all[id] = .failure(error)
            }
        }
        return all
    }

    func stored(_ id: String) async throws(WebhookError) -> StoredEndpoint? {
        guard let record = try await record(id) else { return nil }
        return try StoredEndpoint.decode(record, of: id)
    }

    /// - Throws: `noSuchEndpoint`, `contended`, `redis`.
    func change(
        _ id: String, _ edit: (inout StoredEndpoint) -> Void
    ) async throws(WebhookError) -> StoredEndpoint {
        for _ in 0..<Self.triesMax {
            guard let old = try await record(id) else {
                throw WebhookError(
                    .noSuchEndpoint, "queue \(queue) has no endpoint \(id.debugDescription).")
            }
            var stored = try StoredEndpoint.decode(old, of: id)
            let before = stored
            edit(&stored)
            if stored == before { return stored }
            if try await replace(id, old, with: stored.encoded()) == .made { return stored }
        }
        throw contended(id)
    }

    func record(_ id: String) async throws(WebhookError) -> [UInt8]? {
        do {
            return try await records.record(id)
        } catch {
            throw failure(error)
        }
    }

    func replace(
        _ id: String, _ old: [UInt8]?, with new: [UInt8]?, within share: RecordHash.Share? = nil
    ) async throws(WebhookError) -> RecordHash.Change {
        do {
            return try await records.replace(id, old, with: new, within: share)
        } catch {
            throw failure(error)
        }
    }

    func send(_ command: [RedisArgument]) async throws(WebhookError) -> RedisReply {
        do {
            return try await redis.send(command)
        } catch {
            throw failure(error)
        }
    }

    func contended(_ id: String) -> WebhookError {
        WebhookError(
            .contended,
            "endpoint \(id) was changed by others \(Self.triesMax) times in a row; try again.")
    }

    func failure(_ error: RedisError) -> WebhookError {
        WebhookError(.redis, "the webhooks of queue \(queue): \(error)", cause: error)
    }
}
