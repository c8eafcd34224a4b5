/// One reply of the server, in the types of RESP 2.
///
/// Source: <https://redis.io/docs/latest/develop/reference/protocol-spec/>.
public enum RedisReply: Sendable, Hashable {
    /// A null bulk string or null array: no such key, or a blocking read that found nothing.
    case null
    /// A simple string such as `OK`.
    case status(String)
    /// An error inside an array; an error as the whole reply is thrown instead.
    case error(RedisServerError)
    /// An integer.
    case integer(Int64)
    /// A binary-safe string.
    case bulk([UInt8])
    /// An array, possibly nested.
    case array([RedisReply])

    /// Whether this is the null reply.
    public var isNull: Bool { self == .null }

    /// The text of a status or of a bulk string in valid UTF-8; nil for any other reply.
    public var string: String? {
        switch self {
        case .status(let text): text
        case .bulk(let bytes): String(validating: bytes, as: UTF8.self)
        case .null, .error, .integer, .array: nil
        }
    }

    /// An integer, or the value of a bulk string or status that contains a decimal integer; nil for any other reply.
    ///
    /// Scripts and hashes return numbers as strings.
    public var int: Int64? {
        if case .integer(let value) = self { value } else { string.flatMap { Int64($0) } }
    }

    /// The bytes of a bulk string or status; nil for any other reply.
    public var bytes: [UInt8]? {
        switch self {
        case .bulk(let bytes): bytes
        case .status(let text): Array(text.utf8)
        case .null, .error, .integer, .array: nil
        }
    }

    /// The elements of an array; nil for any other reply.
    public var array: [RedisReply]? {
        if case .array(let elements) = self { elements } else { nil }
    }
}
