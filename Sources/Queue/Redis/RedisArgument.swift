/// One word of a command: text, a number or any bytes.
public struct RedisArgument: Sendable, Hashable {
    enum Value: Sendable, Hashable {
        case text(String)
        case number(Int64)
        case bytes([UInt8])
    }

    let value: Value

    /// Creates an argument with the UTF-8 bytes of `text`.
    public init(_ text: String) {
        value = .text(text)
    }

    /// Creates an argument with `number` in decimal.
    public init(_ number: Int) {
        value = .number(Int64(number))
    }

    /// Creates an argument with `bytes`, unchanged.
    public init(_ bytes: [UInt8]) {
        value = .bytes(bytes)
    }

    /// The maximum number of bytes that this argument needs; exact except for numbers.
    var bytesMax: Int {
        switch value {
        case .text(let text): text.utf8.count
        case .number: 20
        case .bytes(let bytes): bytes.count
        }
    }

    /// The argument as text for messages, which only name the command itself.
    var text: String {
        switch value {
        case .text(let text): text
        case .number(let number): String(number)
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }
}

extension RedisArgument: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral {
    /// Creates an argument with the UTF-8 bytes of `value`.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// Creates an argument with `value` in decimal.
    public init(integerLiteral value: Int) {
        self.init(value)
    }
}
