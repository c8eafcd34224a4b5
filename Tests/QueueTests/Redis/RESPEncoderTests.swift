import NIOCore
import MinilabTesting
import Testing

@testable import Redis

@Suite("RESPEncoder") struct RESPEncoderTests {
    private func encode(_ commands: [[RedisArgument]]) -> [UInt8] {
        var encoder = RESPEncoder()
        var buffer = ByteBuffer()
        for command in commands { encoder.encode(command, into: &buffer) }
        return Array(buffer.readableBytesView)
    }

    @Test func `a command is an array of bulk strings`() {
        let bytes = encode([["SET", "ключ", 12], ["PING"]])
        let expected = "*3\r\n$3\r\nSET\r\n$8\r\nключ\r\n$2\r\n12\r\n*1\r\n$4\r\nPING\r\n"
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test func `arguments may hold any bytes or none`() {
        let every = Array(UInt8.min...UInt8.max)
        let bytes = encode([["SET", RedisArgument(every), ""]])
        let expected =
            Array("*3\r\n$3\r\nSET\r\n$256\r\n".utf8) + every + Array("\r\n$0\r\n\r\n".utf8)
        #expect(bytes == expected)
    }

    @Test func `the smallest integer is written in full`() {
        let bytes = encode([["INCRBY", "k", RedisArgument(Int.min)]])
        #expect(String(decoding: bytes, as: UTF8.self).contains("$20\r\n-9223372036854775808\r\n"))
    }

    @Test func `what the encoder writes the decoder reads`() throws {
        var generator = SeededGenerator()
        defer { generator.printSeed() }
        for _ in 0..<200 {
            let words = (0..<Int.random(in: 1...20, using: &generator)).map { _ in
                (0..<Int.random(in: 0...300, using: &generator)).map { _ in
                    UInt8.random(in: .min ... .max, using: &generator)
                }
            }
            var decoder = RESPDecoder(replyBytesMax: 1 << 20)
            try decoder.feed(encode([words.map { RedisArgument($0) }]))
            let reply = try decoder.next()
            #expect(reply == .array(words.map { .bulk($0) }))
        }
    }
}
