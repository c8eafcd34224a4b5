import Edits
import Logging
import MinilabTesting
import ServiceTesting

@testable import BlobStore

/// A case on its way: does one action after the other and reports what it saw.
final class Conversation {
    typealias Seen = StoreCase.Seen

    let store: TestStore
    /// Tags and values of answers, by the names that steps use.
    var known: [String: String] = [:]

    init(_ store: TestStore) {
        self.store = store
        known["prefix"] = store.prefix
    }

    /// The expectation, with the names that only this conversation knows.
    func filled(_ expected: Seen) -> Seen {
        guard case .answer(let status, let values) = expected else { return expected }
        return .answer(
            status, values.map { $0.replacing("{prefix}", with: store.prefix) })
    }

    func see(_ action: StoreCase.Action) async throws -> Seen {
        switch action {
        case .raw(let request): return try await send(request)
        case .link(let key, let link): return try await follow(link, to: key)
        case .by(let keys, let clock, let bucket, let action):
            return try await see(action, keys, clock: clock, bucket: bucket)
        default: return try await see(action, .admin, clock: 0, bucket: nil)
        }
    }

    private func see(
        _ action: StoreCase.Action, _ keys: StoreKeys, clock: Int, bucket: String?
    ) async throws -> Seen {
        var configuration = S3Configuration(
            url: try BlobURL(
                "s3://\(bucket ?? store.bucket)/\(store.prefix)?endpoint=\(store.endpoint)"))
        configuration.silenceMax = .seconds(60)
        configuration.wholePutBytesMax = 5 << 20
        configuration.partBytes = 5 << 20
        var runtime = ClientRuntime.real
        runtime.now = { BlobTime(seconds: ClientRuntime.real.now().seconds + clock) }
        let client = try S3Client(
            configuration,
            credentials: FixedCredentials(
                Credentials(accessKey: keys.accessKey, secretKey: keys.secretKey)),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            runtime: runtime)
        let seen: Seen
        do throws(BlobError) {
            seen = try await see(action, with: client)
        } catch {
            seen = .failed(error.code)
        }
        await client.close()
        return seen
    }

    private func see(
        _ action: StoreCase.Action, with client: S3Client
    ) async throws(BlobError) -> Seen {
        switch action {
        case .put(let key, let text, let condition, let name):
            known[name] = try await client.put(
                BlobKey(key), Array(text.utf8), if: meant(condition)
            ).text
            return .done
        case .large(let key, let mebibytes):
            // Every MiB begins with its own number, so that no exchange of two goes unseen.
            var bytes = [UInt8](repeating: 7, count: mebibytes << 20)
            for number in 0..<mebibytes { bytes[number << 20] = UInt8(number) }
            let digest = BlobDigest(of: bytes)
            try await client.put(BlobKey(key), .bytes(bytes), digest: digest, if: .always)
            let blob = try await client.head(BlobKey(key))
            let read = try await client.bytes(
                BlobKey(key), nil, ifMatch: blob.tag, atMost: bytes.count)
            return read.bytes == bytes && blob.digest == digest ? .size(blob.size) : .text("harmed")
        case .harmed(let key, let text):
            try await client.put(
                BlobKey(key), .bytes(Array(text.utf8)), digest: BlobDigest(of: [4]), if: .always)
            return .done
        case .race(let key, let count, let condition):
            return try await race(client, BlobKey(key), count, meant(condition))
        case .get(let key, let range, let tag):
            return .text(try await client.text(BlobKey(key), range, ifMatch: tag.map(tag(named:))))
        case .head(let key): return .size(try await client.head(BlobKey(key)).size)
        case .list(let prefix, let after):
            let page = try await client.list(
                prefix, after: after.map { key throws(BlobError) in try BlobKey(key) })
            return .keys(page.entries.map(\.key.text))
        case .copy(let key, let target, let tag):
            try await client.copy(BlobKey(key), self.tag(named: tag), to: BlobKey(target))
            return .done
        case .remove(let keys):
            let left = try await client.delete(
                keys.map { key throws(BlobError) in try BlobKey(key) })
            return left.values.first.map { .failed($0.code) } ?? .done
        case .raw, .link, .by: fatalError("actions that are no call of the client's")
        }
    }

    private func tag(named name: String) -> BlobTag { BlobTag(known[name] ?? name) }

    private func meant(_ condition: StoreCase.Condition) -> BlobCondition {
        switch condition {
        case .always: .always
        case .absent: .absent
        case .tag(let name): .unchanged(tag(named: name))
        }
    }

    private func race(
        _ client: S3Client, _ key: BlobKey, _ count: Int, _ condition: BlobCondition
    ) async throws(BlobError) -> Seen {
        let codes = await withTaskGroup(of: (Int, BlobErrorCode?).self) { group in
            for number in 0..<count {
                group.addTask {
                    let error = await failure { () throws(BlobError) in
                        try await client.put(key, Array("racer \(number)".utf8), if: condition)
                    }
                    return (number, error?.code)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let text = try await client.text(key)
        var winners = 0
        for (number, code) in codes {
            switch code {
            case nil: winners += 1
            case .precondition: break
            // A store that had too much to do and answers so: what it has done is to be read.
            case .unknownFate: winners += text == "racer \(number)" ? 1 : 0
            case .some(let code): return .failed(code)
            }
        }
        return .won(winners)
    }
}
