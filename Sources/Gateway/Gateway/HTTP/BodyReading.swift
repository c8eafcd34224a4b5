package import Edits
import FoundationEssentials
package import Hummingbird
package import NIOCore

/// The functions that read bodies that fit into memory.
package enum BodyReading {
    /// The deepest allowed nesting of arrays and objects in a body.
    package static let depthMax = 64

    /// Reads all bytes of a request's body.
    ///
    /// - Throws: ``BodyRefusal``, before a byte is read if the declared length is too large; the connection's error if
    ///   it breaks.
    package static func bytes(
        of request: Request, atMost bytesMax: Int
    ) async throws -> ByteBuffer {
        let length = request.headers[.contentLength].flatMap { Int($0) }
        guard length ?? 0 <= bytesMax else { throw BodyRefusal.oversized(bytesMax: bytesMax) }
        var whole = ByteBuffer()
        for try await var part in request.body {
            guard whole.readableBytes + part.readableBytes <= bytesMax else {
                throw BodyRefusal.oversized(bytesMax: bytesMax)
            }
            whole.writeBuffer(&part)
        }
        guard length == nil || length == whole.readableBytes else { throw BodyRefusal.cutOff }
        return whole
    }

    /// Refuses a JSON text that is nested too deeply, before it is parsed.
    ///
    /// - Throws: ``BodyRefusal/tooDeep(depthMax:)``.
    static func checkDepth(ofJSON bytes: ByteBuffer) throws(BodyRefusal) {
        guard depth(ofJSON: bytes.readableBytesView) <= depthMax else {
            throw .tooDeep(depthMax: depthMax)
        }
    }

    /// Returns the depth of nested arrays and objects, whether or not the rest is valid JSON.
    static func depth(ofJSON bytes: some Sequence<UInt8>) -> Int {
        var (depth, deepest) = (0, 0)
        var (isInString, isEscaped) = (false, false)
        for byte in bytes {
            if isEscaped {
                isEscaped = false
                continue
            }
            switch byte {
            case UInt8(ascii: "\\"): isEscaped = isInString
            case UInt8(ascii: "\""): isInString.toggle()
            case _ where isInString: break
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                deepest = max(deepest, depth)
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        return deepest
    }
}

/// The digest of its body that a client sends (RFC 9530): `Content-Digest: sha-256=:…:`.
package enum ContentDigest {
    /// The most members of the field that are inspected.
    private static let membersMax = 8

    /// Returns the SHA-256 of a field in hex; nil if there is no field.
    ///
    /// - Parameter lines: the lines of the field.
    /// - Throws: `invalidValue` if the field is malformed or has no SHA-256.
    package static func sha256(_ lines: [String]) throws(Failure) -> String? {
        guard !lines.isEmpty else { return nil }
        let members = lines.joined(separator: ",").split(
            separator: ",", omittingEmptySubsequences: false)
        var found: String?
        for member in members.prefix(membersMax) {
            let parts = member.trimmingSpaces.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0] == "sha-256" else { continue }
            guard found == nil, let hex = hex(parts[1]) else {
                throw Failure(
                    .invalidValue,
                    "the Content-Digest has no SHA-256 of 32 bytes in Base64 between colons, as RFC 9530 has it."
                )
            }
            found = hex
        }
        guard let found else {
            throw Failure(
                .invalidValue,
                "the Content-Digest has no member sha-256, the only algorithm that is compared here."
            )
        }
        return found
    }

    /// Returns the field of a digest.
    ///
    /// - Parameter hex: the SHA-256 in hex.
    package static func field(_ hex: String) -> String {
        var bytes = Data()
        var rest = Substring(hex)
        while rest.count >= 2, let byte = UInt8(rest.prefix(2), radix: 16) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return "sha-256=:\(bytes.base64EncodedString()):"
    }

    private static func hex(_ value: Substring) -> String? {
        let text = value.trimmingSpaces
        guard text.utf8.count == 46, text.first == ":", text.last == ":" else { return nil }
        let base64 = String(text.dropFirst().dropLast())
        // Bits beyond the last byte must be zero, so that a digest has exactly one text.
        guard let bytes = Data(base64Encoded: base64), bytes.count == 32,
            bytes.base64EncodedString() == base64
        else { return nil }
        return bytes.hex
    }
}
