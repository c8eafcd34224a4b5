import COpenSSL

/// A running SHA-256 (FIPS 180-4), computed by OpenSSL's libcrypto. A copy goes on by itself.
public struct SHA256: Sendable {
    private var context = Context()

    public static let byteCount = 32

    /// Starts a digest of no bytes.
    public init() {}

    public mutating func update(bufferPointer bytes: UnsafeRawBufferPointer) {
        if !isKnownUniquelyReferenced(&context) { context = Context(context) }
        context.update(bytes)
    }

    /// Adds bytes.
    public mutating func update(data: some Sequence<UInt8>) {
        withBytes(of: data) { update(bufferPointer: $0) }
    }

    /// Returns the 32 bytes of the digest of all bytes so far.
    public func finalize() -> [UInt8] { Context(context).finish() }

    /// Returns the 32 bytes of the digest of `data`.
    public static func hash(data: some Sequence<UInt8>) -> [UInt8] {
        digest(of: data, by: Context.algorithm)
    }

    /// `@unchecked Sendable` is safe because only the single owner of a context changes it.
    private final class Context: @unchecked Sendable {
        private let state: OpaquePointer

        /// Fetched once: looking an algorithm up takes OpenSSL longer than digesting a short text.
        static let algorithm = Algorithm("SHA256")

        private init(state: OpaquePointer?) {
            guard let state else { fatalError("OpenSSL has no memory for a digest") }
            self.state = state
        }

        convenience init() {
            self.init(state: EVP_MD_CTX_new())
            insist(EVP_DigestInit_ex(state, Self.algorithm.pointer, nil))
        }

        convenience init(_ other: Context) {
            self.init(state: EVP_MD_CTX_new())
            insist(EVP_MD_CTX_copy_ex(state, other.state))
        }

        deinit { EVP_MD_CTX_free(state) }

        func update(_ bytes: UnsafeRawBufferPointer) {
            insist(EVP_DigestUpdate(state, bytes.baseAddress, bytes.count))
        }

        func finish() -> [UInt8] {
            [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { bytes, count in
                insist(EVP_DigestFinal_ex(state, bytes.baseAddress, nil))
                count = SHA256.byteCount
            }
        }
    }
}

/// Codes that show that a text comes from a holder of a key (RFC 2104).
public enum HMAC {
    /// Returns the 32 bytes of the HMAC-SHA256 of `data`.
    public static func sha256(of data: some Sequence<UInt8>, key: some Sequence<UInt8>) -> [UInt8] {
        withBytes(of: key) { key in
            withBytes(of: data) { data in
                [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { code, count in
                    var length: UInt32 = 0
                    let made = COpenSSL.HMAC(
                        EVP_sha256(), key.baseAddress, Int32(key.count),
                        data.baseAddress?.assumingMemoryBound(to: UInt8.self), data.count,
                        code.baseAddress, &length)
                    precondition(made != nil, "OpenSSL computes no HMAC-SHA256 on this machine")
                    count = Int(length)
                }
            }
        }
    }
}

/// MD5 (RFC 1321), a checksum of transfers that S3 demands. It protects nothing against intent.
public enum MD5 {
    /// Returns the 16 bytes of the checksum of `data`.
    public static func hash(data: some Sequence<UInt8>) -> [UInt8] {
        digest(of: data, by: algorithm)
    }

    private static let algorithm = Algorithm("MD5")
}

/// An algorithm of OpenSSL. It is never freed.
private struct Algorithm: @unchecked Sendable {
    let pointer: OpaquePointer

    init(_ name: String) {
        guard let pointer = EVP_MD_fetch(nil, name, nil) else {
            fatalError("OpenSSL offers no \(name) on this machine")
        }
        self.pointer = pointer
    }
}

private func digest(of data: some Sequence<UInt8>, by algorithm: Algorithm) -> [UInt8] {
    withBytes(of: data) { data in
        let size = Int(EVP_MD_get_size(algorithm.pointer))
        return [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
            insist(
                EVP_Digest(
                    data.baseAddress, data.count, bytes.baseAddress, nil, algorithm.pointer, nil))
            count = size
        }
    }
}

/// OpenSSL's functions of digests fail only without memory.
private func insist(_ result: Int32) { precondition(result == 1, "OpenSSL has no memory") }

/// Calls the body with the bytes at one address, which is never nil: HMAC takes a nil key for the one before.
private func withBytes<Result>(
    of data: some Sequence<UInt8>, _ body: (UnsafeRawBufferPointer) -> Result
) -> Result {
    let direct = data.withContiguousStorageIfAvailable { bytes in
        bytes.isEmpty ? nil : body(UnsafeRawBufferPointer(bytes))
    }
    if case .some(.some(let result)) = direct { return result }
    var bytes = Array(data)
    let count = bytes.count
    if bytes.isEmpty { bytes = [0] }
    return bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
}
