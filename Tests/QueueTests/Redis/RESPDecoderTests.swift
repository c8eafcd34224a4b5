import Testing

@testable import Redis

@Suite("RESPDecoder") struct RESPDecoderTests {
    /// Decodes all of `pieces`, one feed each.
    private func decode(
        _ pieces: [[UInt8]], replyBytesMax: Int = 1 << 20
    ) throws -> [RedisReply] {
        var decoder = RESPDecoder(replyBytesMax: replyBytesMax)
        var replies: [RedisReply] = []
        for piece in pieces {
            try decoder.feed(piece)
            while let reply = try decoder.next() { replies.append(reply) }
        }
        return replies
    }

    private static let stream = Array(
        """
        +OK\r\n-NOSCRIPT No matching script\r\n:-42\r\n$-1\r\n*-1\r\n$0\r\n\r\n*0\r\n\
        $5\r\na\r\n\0b\r\n*3\r\n:1\r\n*2\r\n$1\r\nx\r\n-ERR inner\r\n$-1\r\n+after\r\n
        """.utf8)

    private static let replies: [RedisReply] = [
        .status("OK"), .error(RedisServerError("NOSCRIPT No matching script")), .integer(-42),
        .null, .null, .bulk([]), .array([]), .bulk(Array("a\r\n\0b".utf8)),
        .array([
            .integer(1), .array([.bulk([0x78]), .error(RedisServerError("ERR inner"))]), .null,
        ]),
        .status("after"),
    ]

    @Test func `replies cut at any byte are the same replies`() throws {
        for cut in 0...Self.stream.count {
            let pieces = [Array(Self.stream[..<cut]), Array(Self.stream[cut...])]
            #expect(try decode(pieces) == Self.replies, "cut at \(cut)")
        }
        #expect(try decode(Self.stream.map { [$0] }) == Self.replies)
    }

    @Test func `arrays may be nested eight deep and no deeper`() throws {
        let eight = String(repeating: "*1\r\n", count: 8) + ":1\r\n"
        var expected = RedisReply.integer(1)
        for _ in 0..<8 { expected = .array([expected]) }
        #expect(try decode([Array(eight.utf8)]) == [expected])

        let deep = String(repeating: "*1\r\n", count: 100_000)
        for text in ["*1\r\n" + eight, "*2\r\n:1\r\n*1\r\n" + eight, deep] {
            let error = try #require(throws: RedisError.self) { try decode([Array(text.utf8)]) }
            #expect(error.code == .protocolViolation)
        }
    }

    @Test(arguments: [
        "HTTP/1.1 400 Bad Request\r\n", "$abc\r\n\r\n", ":12x\r\n", "*2147483648\r\n",
        "$-2\r\n", "*-5\r\n",
        // RESP 3, whose types hiredis reads from 1.0 on: map, set, push, null, double, boolean, number, text.
        "%1\r\n+a\r\n+b\r\n", "~1\r\n+a\r\n", ">1\r\n+a\r\n", "_\r\n", ",1.5\r\n", "#t\r\n",
        "(12345678901234567890\r\n", "=5\r\ntxt:a\r\n", "*2\r\n:1\r\n_\r\n", "*2\r\n:1\r\n#t\r\n",
    ])
    func `bytes that are not RESP 2 are a protocol violation for good`(text: String) throws {
        var decoder = RESPDecoder(replyBytesMax: 1 << 20)
        try decoder.feed(Array(text.utf8))
        for _ in 1...2 {
            var code: RedisError.Code?
            do throws(RedisError) { _ = try decoder.next() } catch { code = error.code }
            #expect(code == .protocolViolation)
        }
    }

    @Test func `a reply above the limit is refused before it is complete`() throws {
        let header = Array("$100000\r\n".utf8)
        let body = [UInt8](repeating: 0x61, count: 2000)
        #expect(try decode([header, body], replyBytesMax: 4096) == [])
        let error = try #require(throws: RedisError.self) {
            try decode([header, body, body, body], replyBytesMax: 4096)
        }
        #expect(error.code == .protocolViolation)
        #expect(error.message.contains("4096"))
    }

    @Test func `many small replies do not add up to a large one`() throws {
        let pong = Array("+PONG\r\n".utf8)
        let count = 2000
        let pieces = [[UInt8]](repeating: pong + pong, count: count / 2)
        #expect(try decode(pieces, replyBytesMax: 64).count == count)
    }

    @Test func `an array longer than the limit is refused at its header`() throws {
        let length = RESPDecoder.arrayElementsMax + 1
        let error = try #require(throws: RedisError.self) {
            try decode([Array("*\(length)\r\n".utf8)])
        }
        #expect(error.message.contains("\(RESPDecoder.arrayElementsMax)"))
    }
}

extension RESPDecoder {
    mutating func feed(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try feed($0) }
    }
}
