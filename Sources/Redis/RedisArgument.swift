/// One word of a command: text, a number or any bytes.
public struct RedisArgument: Sendable, Hashable {
    enum Value: Sendable, Hashable {
        case text(String)
        case number(Int64)
        case bytes([UInt8])
    }

    let value: Value

    /// The UTF-8 bytes of `text`.
    public init(_ text: String) {
        value = .text(text)
    }

    /// `number` in decimal.
    public init(_ number: Int) {
        value = .number(Int64(number))
    }

    /// `bytes` as they are.
    public init(_ bytes: [UInt8]) {
        value = .bytes(bytes)
    }

    /// The most bytes that this argument can need; exact but for numbers.
    var bytesMax: Int {
        switch value {
        case .text(let text): text.utf8.count
        case .number: 20
        case .bytes(let bytes): bytes.count
        }
    }

    /// The argument as text for messages, which only ever name the command itself.
    var text: String {
        switch value {
        case .text(let text): text
        case .number(let number): String(number)
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }
}

extension RedisArgument: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral {
    /// The UTF-8 bytes of `value`.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// `value` in decimal.
    public init(integerLiteral value: Int) {
        self.init(value)
    }
}
