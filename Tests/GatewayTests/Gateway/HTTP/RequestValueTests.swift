import Edits
import NIOCore
import Testing

@testable import Gateway

@Suite("Ranges") struct ByteRangeTests {
    @Test(arguments: [
        ("bytes=0-0", ByteRange.part(0..<1)), ("bytes=2-", .part(2..<10)),
        ("bytes=-3", .part(7..<10)), ("bytes=-30", .part(0..<10)), ("bytes=2-99", .part(2..<10)),
        ("BYTES=2-3", .part(2..<4)), ("bytes=9-9", .part(9..<10)),
        ("bytes=0-99999999999999999999", .part(0..<10)),
        ("bytes=10-", .unsatisfiable), ("bytes=10-20", .unsatisfiable),
        ("bytes=-0", .unsatisfiable), ("bytes=99999999999999999999-", .unsatisfiable),
        ("bytes=3-2", .whole), ("bytes=0-1,3-4", .whole), ("bytes=", .whole), ("bytes=-", .whole),
        ("lines=0-1", .whole), ("bytes=a-b", .whole), ("bytes=0-1-2", .whole),
        ("bytes=+1-2", .whole), ("bytes= 0-1", .whole),
        ("bytes=" + String(repeating: "0-,", count: 1000), .whole),
    ])
    func `is read as RFC 9110 has it, one at most`(_ field: String, _ wanted: ByteRange) {
        #expect(ByteRange(field, ifRange: nil, tag: nil, size: 10) == wanted)
    }

    @Test func `none is the whole file, which may be empty`() {
        #expect(ByteRange(nil, ifRange: nil, tag: nil, size: 0) == .whole)
        #expect(ByteRange("bytes=0-", ifRange: nil, tag: nil, size: 0) == .unsatisfiable)
    }

    @Test func `counts only for the bytes that the client has a part of`() {
        let tag = EntityTag("a")
        func range(_ ifRange: String) -> ByteRange {
            ByteRange("bytes=0-0", ifRange: ifRange, tag: tag, size: 10)
        }
        #expect(range("\"a\"") == .part(0..<1))
        #expect(range("\"b\"") == .whole)
        #expect(range("W/\"a\"") == .whole)
        #expect(range("Mon, 01 Jan 2024 00:00:00 GMT") == .whole)
    }
}

@Suite("Conditions") struct PreconditionsTests {
    private func verdict(
        _ ifMatch: [String], _ ifNoneMatch: [String], tag: EntityTag? = EntityTag("a"),
        isReading: Bool = true
    ) -> Preconditions.Verdict {
        Preconditions(ifMatch: ifMatch, ifNoneMatch: ifNoneMatch)
            .verdict(tag: tag, isThere: tag != nil, isReading: isReading)
    }

    @Test func `none lets a request through`() { #expect(verdict([], []) == .proceed) }

    @Test func `If-Match wants the same bytes`() {
        #expect(verdict(["\"a\""], []) == .proceed)
        #expect(verdict(["\"b\", \"a\""], []) == .proceed)
        #expect(verdict(["\"b\"", "\"a\""], []) == .proceed)
        #expect(verdict(["\"b\""], []) == .failed)
        #expect(verdict(["W/\"a\""], []) == .failed)
        #expect(verdict(["*"], []) == .proceed)
        #expect(verdict(["*"], [], tag: nil) == .failed)
        #expect(verdict(["a"], []) == .failed)
    }

    @Test func `If-None-Match is content with the same meaning`() {
        #expect(verdict([], ["\"a\""]) == .notModified)
        #expect(verdict([], ["W/\"a\""]) == .notModified)
        #expect(verdict([], ["\"b\""]) == .proceed)
        #expect(verdict([], ["*"], isReading: false) == .failed)
        #expect(verdict([], ["*"], tag: nil, isReading: false) == .proceed)
    }

    @Test func `If-Match is judged first`() {
        #expect(verdict(["\"b\""], ["\"a\""]) == .failed)
    }

    @Test func `a tag may have a comma, and a list of thousands is none`() {
        #expect(EntityTag.list("\"a,b\", W/\"c\"")?.map(\.value) == ["a,b", "c"])
        #expect(EntityTag.list(String(repeating: "\"a\",", count: 1000)) == nil)
        #expect(EntityTag.list("\"a\" \"b\"") == nil)
        #expect(EntityTag.list("\"a") == nil)
        #expect(EntityTag.list("") == [])
    }
}

@Suite("Content-Digest") struct ContentDigestTests {
    /// SHA-256 of nothing.
    private static let hex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    private static let field = "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"

    @Test func `is read and written`() throws {
        #expect(try ContentDigest.sha256([Self.field]) == Self.hex)
        #expect(try ContentDigest.sha256(["sha-512=:AAAA:, " + Self.field]) == Self.hex)
        #expect(ContentDigest.field(Self.hex) == Self.field)
        #expect(try ContentDigest.sha256([]) == nil)
    }

    @Test(arguments: [
        "", "sha-256", "sha-256=", "sha-256=::", "sha-256=:AAAA:", "sha-512=:AAAA:", "md5=:AAAA:",
        "sha-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        // Bits beyond the last byte.
        "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=:",
        "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:, sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:",
        String(repeating: "a=1,", count: 100_000),
    ])
    func `that is none, or of another algorithm, is refused`(_ field: String) {
        #expect(throws: Failure.self) { try ContentDigest.sha256([field]) }
    }
}

@Suite("Paths of assets in targets") struct TargetPathTests {
    @Test(arguments: [
        ("IMG_0001.JPG", "IMG_0001.JPG"), ("a/b/c.jpg", "a/b/c.jpg"), ("a%2Fb", "a/b"),
        ("a%20b+c", "a b+c"), ("caf%C3%A9", "café"), ("cafe%CC%81", "cafe\u{301}"),
        ("100%25.jpg", "100%.jpg"), ("a..b/...", "a..b/..."),
        // A name that looks like an escape is decoded once, too.
        ("%2541.jpg", "%41.jpg"), ("%252e%252e/a", "%2e%2e/a"), ("%25252e", "%252e"),
        ("a%2500", "a%00"), ("a%5cb", #"a\b"#), ("%5c..%5c", #"\..\"#),
        ("Scherm%C2%ADafbeelding.png", "Scherm\u{ad}afbeelding.png"), ("a%e2%80%ae", "a\u{202e}"),
    ])
    func `are decoded once`(_ tail: String, _ wanted: String) throws {
        #expect(try TargetPath.asset(tail[...]).string.utf8.elementsEqual(wanted.utf8))
    }

    @Test(arguments: [
        "", "/", "/a", "a/", "a//b", "..", "../a", "a/../b", "a/..", ".", "./a", "a/./b",
        "%2e%2e", "%2E%2e/a", "a/%2e%2e/b", ".%2e", "%2fetc/passwd", "a%2f%2fb", "a%2f..%2fb",
        "a%00b", "%00", "a%0ab", "a%0d", "a%7f",
        "..\\a", "a\\b", "%c0%ae%c0%ae/a", "%c0%af", "%e0%80%af", "%f0%80%80%af",
        "%ff", "%c3", "%ed%a0%80", "%", "a%", "a%2", "a%zz", "a%-1", "%u002e",
        "a%c2%85", String(repeating: "a", count: 300), String(repeating: "a/", count: 600) + "a",
    ])
    func `that lead elsewhere, or are no plain paths, are refused`(_ tail: String) {
        #expect(throws: Failure.self) { try TargetPath.asset(tail[...]) }
    }

    @Test func `that look the same and are not stay apart`() throws {
        let composed = try TargetPath.asset("caf%C3%A9")
        let decomposed = try TargetPath.asset("cafe%CC%81")
        #expect(!composed.string.utf8.elementsEqual(decomposed.string.utf8))
    }
}

@Suite("Bodies of JSON") struct BodyReadingTests {
    @Test func `have a depth, strings left out`() {
        #expect(BodyReading.depth(ofJSON: "1".utf8) == 0)
        #expect(BodyReading.depth(ofJSON: "{\"a\":[{\"b\":[]}]}".utf8) == 4)
        #expect(BodyReading.depth(ofJSON: "[\"[[[\\\"[[[\\\\\", []]".utf8) == 2)
        #expect(BodyReading.depth(ofJSON: "]]]]".utf8) == 0)
        #expect(BodyReading.depth(ofJSON: String(repeating: "[", count: 100_000).utf8) == 100_000)
    }
}

@Suite("Addresses of clients") struct ClientAddressTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.2", "192.0.2.2"), ("2001:db8:1:2::3", "20:1:d:b8:0:1:0:2"),
        ("2001:db8:1:2:ffff::", "20:1:d:b8:0:1:0:2"), ("::1", "0:0:0:0:0:0:0:0"),
    ])
    func `are those of IPv4, also at a port of IPv6, and the first half of others`(
        _ text: String, _ wanted: String
    ) throws {
        #expect(OpenConnections.address(try SocketAddress(ipAddress: text, port: 1)) == wanted)
    }
}
