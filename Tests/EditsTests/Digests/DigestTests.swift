import Edits
import Foundation
import Testing

@Suite("Digests") struct DigestTests {
    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }

    @Test(arguments: [
        // FIPS 180-4's examples, and a million times "a".
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            String(repeating: "a", count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ])
    func `SHA-256 of texts is that of the standard, in one or in many parts`(
        text: String, digest: String
    ) {
        #expect(hex(SHA256.hash(data: text.utf8)) == digest)
        var hash = SHA256()
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            hash.update(data: rest.prefix(4099))
            rest = rest.dropFirst(4099)
        }
        #expect(hex(hash.finalize()) == digest)
    }

    @Test func `a digest goes on after it was read, and a copy goes on by itself`() {
        var hash = SHA256()
        hash.update(data: "a".utf8)
        var copy = hash
        let first = hash.finalize()
        copy.update(data: "b".utf8)
        #expect(hash.finalize() == first && first == SHA256.hash(data: "a".utf8))
        #expect(copy.finalize() == SHA256.hash(data: "ab".utf8))
        hash.update(data: "bc".utf8)
        #expect(hash.finalize() == SHA256.hash(data: "abc".utf8))
    }

    @Test(arguments: [
        // RFC 4231, 4.2, 4.3 and 4.7; and an empty key with an empty text.
        (
            [UInt8](repeating: 0x0B, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131),
            "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        ([], "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ])
    func `HMAC-SHA256 is that of the standard`(key: [UInt8], text: String, code: String) {
        #expect(hex(HMAC.sha256(of: text.utf8, key: key)) == code)
    }

    @Test(arguments: [
        // RFC 1321, A.5.
        ("", "d41d8cd98f00b204e9800998ecf8427e"),
        ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
    ])
    func `MD5 is that of the standard`(text: String, digest: String) {
        #expect(hex(MD5.hash(data: text.utf8)) == digest)
    }
}
