import Edits
import NIOCore
import Synchronization

@testable import BlobStore

/// A store in memory, with the conditions of a real one, that counts, fails and waits as a test says.
final class MemoryBlobStore: BlobStore {
    /// A call, as rules and counts see it.
    struct Call: Sendable, Hashable, CustomStringConvertible {
        enum Kind: String, Sendable { case head, get, put, copy, delete, list }
        let kind: Kind
        let key: String

        var description: String { "\(kind.rawValue) \(key)" }
    }

    /// A way in which a call goes wrong.
    enum Fault: Sendable {
        /// It is not done.
        case before(BlobErrorCode)
        /// It is done, and nobody hears of it.
        case loseReply
        /// Nothing is done, then or later.
        case dead
    }

    fileprivate struct Object {
        let bytes: [UInt8]
        let tag: BlobTag
        let digest: BlobDigest
        let modified: Int
    }

    /// A key by its bytes, as stores distinguish keys.
    fileprivate struct Name: Hashable, Comparable {
        let bytes: [UInt8]

        init(_ key: BlobKey) { bytes = Array(key.text.utf8) }

        var text: String { String(decoding: bytes, as: UTF8.self) }

        static func < (one: Name, other: Name) -> Bool {
            one.bytes.lexicographicallyPrecedes(other.bytes)
        }
    }

    fileprivate struct State {
        var objects: [Name: Object] = [:]
        var tags = 0
        var calls: [Call] = []
        var now = 1_780_000_000
        var locked: Set<String> = []
    }

    private let state = Mutex(State())
    private let rule = Mutex<@Sendable (Call) -> Fault?>({ _ in nil })
    private let gate = Mutex<(@Sendable (Call) async -> Void)?>(nil)
    /// Objects of a page of a list.
    let pageMax: Int
    /// Whether it reports digests.
    let reportsDigests: Bool

    init(pageMax: Int = 1_000, reportsDigests: Bool = true) {
        (self.pageMax, self.reportsDigests) = (pageMax, reportsDigests)
    }

    // MARK: For tests

    /// The calls since the last reset.
    var calls: [Call] { state.withLock { $0.calls } }
    func resetCalls() { state.withLock { $0.calls = [] } }
    /// The keys that are there, sorted.
    var keys: [String] { state.withLock { $0.objects.keys.sorted().map(\.text) } }
    func has(_ key: String) -> Bool {
        state.withLock { $0.objects.keys.contains { $0.bytes == Array(key.utf8) } }
    }
    func text(_ key: String) -> String? {
        state.withLock { state in
            state.objects.first { $0.key.bytes == Array(key.utf8) }.map {
                String(decoding: $0.value.bytes, as: UTF8.self)
            }
        }
    }
    /// The store's clock, in seconds since 1970.
    var now: Int {
        get { state.withLock { $0.now } }
        set { state.withLock { $0.now = newValue } }
    }
    func fail(_ rule: @escaping @Sendable (Call) -> Fault?) { self.rule.withLock { $0 = rule } }
    /// Fails only the next call that fits.
    func failOnce(_ fault: Fault, _ fits: @escaping @Sendable (Call) -> Bool) {
        let done = Atomic(false)
        fail { call in
            guard fits(call), !done.exchange(true, ordering: .relaxed) else { return nil }
            return fault
        }
    }
    func pause(_ gate: (@Sendable (Call) async -> Void)?) { self.gate.withLock { $0 = gate } }
    func set(_ text: String, at key: String) throws {
        try set(bytes: Array(text.utf8), at: key)
    }
    func set(bytes: [UInt8], at key: String) throws {
        let key = try BlobKey(key)
        _ = state.withLock { $0.put(bytes, at: key) }
    }
    /// Gives an object other bytes and lets it report the tag and digest of what was written.
    func harm(_ key: String, _ text: String) throws {
        let name = Name(try BlobKey(key))
        state.withLock { state in
            state.objects[name] = state.objects[name].map { object in
                Object(
                    bytes: Array(text.utf8), tag: object.tag, digest: object.digest,
                    modified: object.modified)
            }
        }
    }
    func remove(_ key: String) throws {
        let key = try BlobKey(key)
        state.withLock { $0.objects[Name(key)] = nil }
    }
    func lock(_ key: String) { _ = state.withLock { $0.locked.insert(key) } }

    // MARK: BlobStore

    func head(_ key: BlobKey) async throws(BlobError) -> Blob {
        try await call(.head, key) { state throws(BlobError) in
            try self.blob(self.object(key, state))
        }
    }

    func get(
        _ key: BlobKey, _ range: Range<Int>?, ifMatch tag: BlobTag?,
        into sink: (ByteBuffer) async throws -> Void
    ) async throws(BlobError) -> Blob {
        let object = try await call(.get, key) { state throws(BlobError) in
            try self.object(key, state)
        }
        guard tag == nil || tag == object.tag else { throw BlobError(.changed, "\(key) changed.") }
        var range = range ?? 0..<object.bytes.count
        guard range.lowerBound < object.bytes.count || range.isEmpty else {
            throw BlobError(.invalid, "the range begins behind \(key).")
        }
        range = range.clamped(to: 0..<object.bytes.count)
        // Pieces, as a network has them.
        for start in stride(from: range.lowerBound, to: range.upperBound, by: 1_000) {
            let piece = object.bytes[start..<min(start + 1_000, range.upperBound)]
            do { try await sink(ByteBuffer(bytes: piece)) } catch {
                throw BlobError(.local, "the sink failed: \(error)", cause: error)
            }
        }
        return blob(object)
    }

    func bytes(
        _ key: BlobKey, _ range: Range<Int>?, ifMatch tag: BlobTag?, atMost limit: Int
    ) async throws(BlobError) -> BlobBytes {
        let all = Mutex<[UInt8]>([])
        let blob = try await get(key, range, ifMatch: tag) { piece in
            all.withLock { $0 += Array(piece.readableBytesView) }
        }
        let bytes = all.withLock { $0 }
        guard bytes.count <= limit else { throw BlobError(.invalid, "\(key) is too long.") }
        return BlobBytes(blob: blob, bytes: bytes)
    }

    func put(
        _ key: BlobKey, _ source: BlobSource, digest: BlobDigest, if condition: BlobCondition,
        _ attributes: BlobAttributes
    ) async throws(BlobError) -> BlobTag {
        var bytes: [UInt8] = []
        do {
            for try await piece in source.pieces(of: 0..<source.size) {
                bytes += Array(piece.readableBytesView)
            }
        } catch {
            throw BlobError(.local, "the source failed: \(error)", cause: error)
        }
        guard BlobDigest(of: bytes) == digest else {
            throw BlobError(.corrupt, "bad digest of \(key)")
        }
        let all = bytes
        return try await call(.put, key) { state throws(BlobError) in
            let tag = state.objects[Name(key)]?.tag
            switch condition {
            case .always: break
            case .absent:
                guard tag == nil else { throw BlobError(.precondition, "\(key) is there.") }
            case .unchanged(let expected):
                guard tag != nil else { throw BlobError(.notFound, "there is no \(key).") }
                guard tag == expected else { throw BlobError(.precondition, "\(key) changed.") }
            }
            return state.put(all, at: key)
        }
    }

    func copy(
        _ key: BlobKey, _ tag: BlobTag, to target: BlobKey, _ attributes: BlobAttributes
    ) async throws(BlobError) -> BlobTag {
        try await call(.copy, target) { state throws(BlobError) in
            let object = try self.object(key, state)
            guard object.tag == tag else { throw BlobError(.changed, "\(key) changed.") }
            return state.put(object.bytes, at: target)
        }
    }

    func delete(_ keys: [BlobKey]) async throws(BlobError) -> [BlobKey: BlobError] {
        var left: [BlobKey: BlobError] = [:]
        for key in keys {
            let isLocked = try await call(.delete, key) { state in
                if state.locked.contains(key.text) { return true }
                state.objects[Name(key)] = nil
                return false
            }
            if isLocked { left[key] = BlobError(.denied, "\(key) is locked.") }
        }
        return left
    }

    func list(_ prefix: String, after: BlobKey?) async throws(BlobError) -> BlobPage {
        try await call(.list, BlobKey(listed: prefix)) { state in
            let keys = state.objects.keys.sorted().filter { key in
                key.bytes.starts(with: prefix.utf8) && after.map { key > Name($0) } ?? true
            }
            let page = keys.prefix(self.pageMax)
            return BlobPage(
                entries: page.map { key in
                    let object = state.objects[key]!
                    return BlobPage.Entry(
                        key: BlobKey(listed: key.text), size: object.bytes.count, tag: object.tag,
                        modified: BlobTime(seconds: object.modified))
                }, next: page.count < keys.count ? page.last.map { BlobKey(listed: $0.text) } : nil)
        }
    }

    func link(_ key: BlobKey, for time: Duration) async throws(BlobError) -> BlobLink {
        BlobLink(url: "memory://\(key)", expires: BlobTime(seconds: 0))
    }

    private func object(_ key: BlobKey, _ state: State) throws(BlobError) -> Object {
        guard let object = state.objects[Name(key)] else {
            throw BlobError(.notFound, "there is no \(key).")
        }
        return object
    }

    private func blob(_ object: Object) -> Blob {
        Blob(
            size: object.bytes.count, tag: object.tag, digest: reportsDigests ? object.digest : nil,
            modified: BlobTime(seconds: object.modified))
    }

    private func call<Result: Sendable>(
        _ kind: Call.Kind, _ key: BlobKey,
        _ body: (inout State) throws(BlobError) -> Result
    ) async throws(BlobError) -> Result {
        let call = Call(kind: kind, key: key.text)
        if let gate = gate.withLock({ $0 }) { await gate(call) }
        switch rule.withLock({ $0 })(call) {
        case .before(let code): throw BlobError(code, "\(call) failed, says a test.")
        case .dead: throw BlobError(.unavailable, "\(call) came to nothing, says a test.")
        case .loseReply:
            _ = try run(call, body)
            throw BlobError(.unknownFate, "the reply of \(call) was lost, says a test.")
        case nil: return try run(call, body)
        }
    }

    private func run<Result: Sendable>(
        _ call: Call, _ body: (inout State) throws(BlobError) -> Result
    ) throws(BlobError) -> Result {
        let result = state.withLock { state -> Swift.Result<Result, BlobError> in
            state.calls.append(call)
            do throws(BlobError) { return .success(try body(&state)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

extension MemoryBlobStore.State {
    @discardableResult
    fileprivate mutating func put(_ bytes: [UInt8], at key: BlobKey) -> BlobTag {
        tags += 1
        let tag = BlobTag("t\(tags)")
        objects[MemoryBlobStore.Name(key)] = MemoryBlobStore.Object(
            bytes: bytes, tag: tag, digest: BlobDigest(of: bytes), modified: now)
        return tag
    }
}
