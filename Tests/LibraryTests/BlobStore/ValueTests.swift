import Edits
import MinilabTesting
import Testing

@testable import BlobStore

@Suite("Keys, times, digests and encodings") struct ValueTests {
    @Test(arguments: [
        (0, "19700101T000000Z"), (951_782_400, "20000229T000000Z"),
        (1_440_938_160, "20150830T123600Z"), (4_102_444_799, "20991231T235959Z"),
    ]) func `moments are written as signatures have them`(seconds: Int, stamp: String) {
        #expect(BlobTime(seconds: seconds).stamp == stamp)
    }

    @Test func `moments are read from headers and documents`() {
        #expect(BlobTime(httpDate: "Sun, 06 Nov 1994 08:49:37 GMT")?.seconds == 784_111_777)
        #expect(BlobTime(iso: "2009-10-12T17:50:30.000Z")?.seconds == 1_255_369_830)
        #expect(BlobTime(iso: "2024-02-29T00:00:00Z")?.stamp == "20240229T000000Z")
        for text in ["", "yesterday", "2009-10-12", "2009-13-12T17:50:30Z", "2009-10-12T17:50Z"] {
            #expect(BlobTime(iso: text) == nil, "\(text)")
            #expect(BlobTime(httpDate: text) == nil, "\(text)")
        }
    }

    @Test func `only canonical base64 of 32 bytes is a digest`() {
        var random = SeededGenerator()
        random.printSeed()
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        let text = BlobDigest(bytes).base64
        #expect(BlobDigest(base64: text)?.bytes == bytes)
        for text in ["a", "ab=c", "====", "YQ=", "YR==", "Y Q=", text + "\n", "=" + text] {
            #expect(BlobDigest(base64: text) == nil, "\(text)")
        }
        // Two unused bits of the last digit are set: other texts for the same bytes.
        #expect(BlobDigest(base64: String(repeating: "A", count: 42) + "B=") == nil)
    }

    @Test func `digests are read in both spellings, and a composite is none`() throws {
        let digest = BlobDigest(of: "abc".utf8)
        #expect(
            digest.hex == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(BlobDigest(hex: digest.hex) == digest)
        #expect(BlobDigest(base64: digest.base64) == digest)
        #expect(BlobDigest(base64: digest.base64 + "-3") == nil)
        #expect(BlobDigest(hex: String(digest.hex.dropLast())) == nil)
        #expect(BlobDigest(hex: digest.hex + "é") == nil)
    }

    @Test func `keys are what every store keeps as they are`() throws {
        for text in ["a", "a/b c/ä.jpg", String(repeating: "x", count: 255)] {
            #expect(try BlobKey(text).text == text)
        }
        // A slash before a combining mark ends a component for a store, though it is another character for Swift.
        let name = String(repeating: "x", count: 200)
        #expect(try BlobKey(name + "/\u{301}" + name).text.utf8.count == 403)
        #expect(throws: BlobError.self) { try BlobKey("a/../\u{301}b") }
        #expect(throws: BlobError.self) { try BlobKey("a/\u{301}/../b") }
        #expect(try Set([BlobKey("caf\u{e9}"), BlobKey("cafe\u{301}")]).count == 2)
        let long = Array(repeating: String(repeating: "x", count: 200), count: 6)
        for text in [
            "", "/a", "a/", "a//b", ".", "a/./b", "a/..", "a\nb", "a\u{7F}",
            String(repeating: "x", count: 256), long.joined(separator: "/"),
        ] {
            let error = #expect(throws: BlobError.self) { try BlobKey(text) }
            #expect(error?.code == .invalid, "\(text)")
        }
    }

    @Test func `tags are the same with quotes and without`() {
        #expect(BlobTag("\"abc\"") == BlobTag("abc"))
        #expect(BlobTag("\"").text == "\"")
    }
}
