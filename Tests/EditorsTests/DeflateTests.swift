import Edits
import Foundation
import MinilabTesting
import Testing

@testable import Editors

@Suite("DEFLATE") struct DeflateTests {
    /// What Python's zlib makes of an expression.
    private func python(_ expression: String, windowBits: Int32) throws -> Data {
        let program = """
            import sys, zlib
            deflate = zlib.compressobj(9, zlib.DEFLATED, \(windowBits))
            sys.stdout.buffer.write(deflate.compress(\(expression)) + deflate.flush())
            """
        return try Tool.run("/usr/bin/python3", ["-c", program])
    }

    @Test(arguments: [Deflate.Wrapping.none, .zlib])
    func `what Python compresses inflates, and the other way round`(
        wrapping: Deflate.Wrapping
    ) throws {
        let text = Data(String(repeating: "an edit of a photo, ", count: 20_000).utf8)
        let theirs = try python(
            #"b"an edit of a photo, " * 20_000"#, windowBits: wrapping.rawValue)
        #expect(try Deflate.inflate(theirs, wrapping) == text)
        let ours = Deflate.deflate(text, wrapping)
        let program =
            "import sys, zlib; sys.stdout.buffer.write("
            + "zlib.decompress(sys.stdin.buffer.read(), \(wrapping.rawValue)))"
        #expect(try Tool.run("/usr/bin/python3", ["-c", program], input: ours) == text)
    }

    @Test(arguments: [0, 1, 100, 65_536, 300_000]) func `noise comes back`(count: Int) throws {
        var random = SeededGenerator()
        random.printSeed()
        let noise = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
        #expect(try Deflate.inflate(Deflate.deflate(noise, .none), .none) == noise)
    }

    @Test func `a bomb is stopped at its limit`() throws {
        let most = Data(count: Deflate.inflatedBytesMax)
        #expect(try Deflate.inflate(Deflate.deflate(most, .none), .none) == most)
        let bomb = try python("bytes(\(1 << 26))", windowBits: -15)
        #expect(bomb.count < 1 << 17)
        expect(.adjustmentDataUndecodable, naming: "inflate to more than") {
            try Deflate.inflate(bomb, .none)
        }
    }

    @Test func `cut off anywhere it is refused`() throws {
        let whole = Deflate.deflate(Data("CISepiaTone, CISepiaTone".utf8), .zlib)
        for count in 0..<whole.count {
            expect(.adjustmentDataUndecodable) { try Deflate.inflate(whole.prefix(count), .zlib) }
        }
    }

    @Test func `bytes behind the end and a wrong check sum are refused`() {
        var bytes = Deflate.deflate(Data("CISepiaTone".utf8), .zlib)
        expect(.adjustmentDataUndecodable, naming: "1 bytes follow") {
            try Deflate.inflate(bytes + [0], .zlib)
        }
        bytes[bytes.count - 1] ^= 1
        expect(.adjustmentDataUndecodable, naming: "no DEFLATE") {
            try Deflate.inflate(bytes, .zlib)
        }
        expect(.adjustmentDataUndecodable, naming: "no DEFLATE") {
            try Deflate.inflate(Data("plain text".utf8), .none)
        }
    }
}
