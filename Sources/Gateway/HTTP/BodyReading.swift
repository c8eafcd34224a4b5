package import Hummingbird
package import NIOCore

/// The reasons why a body is not taken.
package enum BodyRefusal: Error, Sendable, Equatable {
    /// 413: it has more bytes than its route takes.
    case oversized(bytesMax: Int)
    /// 400: it ended before its length.
    case cutOff
    /// 400: arrays and objects lie in each other deeper than any contract needs.
    case tooDeep(depthMax: Int)
}

/// Bodies that fit into memory.
package enum BodyReading {
    /// Deepest nesting of arrays and objects in a body.
    package static let depthMax = 64

    /// All bytes of a request's body.
    ///
    /// - Throws: ``BodyRefusal``: of one whose length says that it has too many, before a byte is read. The connection's
    ///   error when it breaks.
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

    /// The bytes of a JSON text, none of which is parsed yet.
    ///
    /// - Throws: as ``bytes(of:atMost:)``; ``BodyRefusal/tooDeep(depthMax:)``.
    package static func json(
        of request: Request, atMost bytesMax: Int
    ) async throws -> ByteBuffer {
        let bytes = try await bytes(of: request, atMost: bytesMax)
        guard depth(ofJSON: bytes.readableBytesView) <= depthMax else {
            throw BodyRefusal.tooDeep(depthMax: depthMax)
        }
        return bytes
    }

    /// How deep arrays and objects lie in each other, whether or not the rest is JSON.
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
