import Synchronization

/// A Lua script that the server runs by its SHA-1.
///
/// Make one per script and keep it: the digest, which the server tells on the first run, is kept
/// with it. Copies share it, also between clients, because it depends on the source alone.
public struct RedisScript: Sendable {
    /// The name for messages and logs.
    public let name: String

    /// The Lua source.
    public let source: [UInt8]

    private let digest = Digest()

    /// A script from the bytes of an embedded file.
    public init(name: String, source: [UInt8]) {
        self.name = name
        self.source = source
    }

    /// A script from text.
    public init(name: String, source: String) {
        self.init(name: name, source: Array(source.utf8))
    }

    /// The SHA-1 of the source in hexadecimal; nil until a server has told it.
    var sha: String? {
        get { digest.sha.withLock { $0 } }
        nonmutating set { digest.sha.withLock { $0 = newValue } }
    }

    private final class Digest: Sendable {
        let sha = Mutex<String?>(nil)
    }
}
