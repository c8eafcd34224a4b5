package import Hummingbird
package import NIOCore

/// The reasons for which a body is refused.
package enum BodyRefusal: Error, Sendable, Equatable {
    /// 413: the body has more bytes than its route accepts.
    case oversized(bytesMax: Int)
    /// 400: the body ended before its declared length.
    case cutOff
    /// 400: the body is not what HTTP has (a malformed chunk), or its connection broke.
    case broken(String)
    /// 400: the arrays and objects are nested deeper than any contract needs.
    case tooDeep(depthMax: Int)
}

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

    /// Reads the bytes of a JSON text without parsing it.
    ///
    /// - Throws: the same as ``bytes(of:atMost:)``; ``BodyRefusal/tooDeep(depthMax:)``.
    package static func json(
        of request: Request, atMost bytesMax: Int
    ) async throws -> ByteBuffer {
        let bytes = try await bytes(of: request, atMost: bytesMax)
        guard depth(ofJSON: bytes.readableBytesView) <= depthMax else {
            throw BodyRefusal.tooDeep(depthMax: depthMax)
        }
        return bytes
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
