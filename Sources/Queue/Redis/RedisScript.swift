import Synchronization

/// A Lua script that the server runs by its SHA-1.
///
/// Create one value per script and keep it: it stores the digest that the server returns on the first run. Copies share the
/// digest, also between clients, because it depends on the source alone.
public struct RedisScript: Sendable {
    /// The name for messages and logs.
    public let name: String

    /// The Lua source.
    public let source: [UInt8]

    private let digest = Digest()

    /// Creates a script from the bytes of an embedded file.
    public init(name: String, source: [UInt8]) {
        self.name = name
        self.source = source
    }

    /// Creates a script from text.
    public init(name: String, source: String) {
        self.init(name: name, source: Array(source.utf8))
    }

    /// The SHA-1 of the source in hexadecimal; nil until a server has returned it.
    var sha: String? {
        get { digest.sha.withLock { $0 } }
        nonmutating set { digest.sha.withLock { $0 = newValue } }
    }

    private final class Digest: Sendable {
        let sha = Mutex<String?>(nil)
    }
}
