public import FoundationEssentials

/// How requests and replies are put on one line each.
public enum LineFormat {
    /// Longest line in bytes; both sides refuse a longer one.
    public static let lineBytesMax = 1 << 20

    /// One line of JSON, with the newline at its end.
    public static func encode(_ message: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var line = try encoder.encode(message)
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// Reads one line, with or without its newline.
    public static func decode<Message: Decodable>(_ type: Message.Type, from line: Data) throws
        -> Message
    {
        try JSONDecoder().decode(type, from: line)
    }
}
