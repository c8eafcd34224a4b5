public import FoundationEssentials

/// The encoding of requests and replies, each as one line.
public enum LineFormat {
    /// The maximum length of a line in bytes; both sides refuse a longer one.
    public static let lineBytesMax = 1 << 20

    /// Encodes a message as one line of JSON, with the newline at its end.
    public static func encode(_ message: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var line = try encoder.encode(message)
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// Decodes one line, with or without its newline.
    public static func decode<Message: Decodable>(_ type: Message.Type, from line: Data) throws
        -> Message
    {
        try JSONDecoder().decode(type, from: line)
    }
}
