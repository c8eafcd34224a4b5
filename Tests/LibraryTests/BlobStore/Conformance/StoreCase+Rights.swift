import MinilabTesting

@testable import BlobStore

extension StoreCase {
    private static let wrongSecret = StoreKeys(
        name: "minilab", accessKey: StoreKeys.admin.accessKey, secretKey: "wrong")
    private static let nobody = StoreKeys(name: "nobody", accessKey: "nobody", secretKey: "wrong")

    private static func put(_ set: (inout RawRequest) -> Void) -> Action {
        .raw(
            RawRequest("PUT", "a") {
                $0.body = "forged"
                set(&$0)
            })
    }

    private static let untouched = Step(.get("a"), .text("one"))
    private static let there = Step(.put("a", "one"), .done)

    private static let cutOff = Seen.refusal(499, "ClientDisconnected")
    private static let cutOffByCeph = [StoreServer.ceph: Seen.refusal(404, "NoSuchKey")]

    /// Signatures, clocks, links and rights.
    static let rights = [
        StoreCase(
            "wrong keys write nothing",
            [
                there, Step(.by(wrongSecret, .put("a", "two")), .failed(.denied)),
                Step(.by(nobody, .put("a", "two")), .failed(.denied)),
                Step(put { $0.keys = wrongSecret }, .refusal(403, "SignatureDoesNotMatch")),
                Step(put { $0.keys = nobody }, .refusal(403, "InvalidAccessKeyId")),
                Step(put { $0.keys = nil }, .refusal(403, "AccessDenied")), untouched,
            ]),
        StoreCase(
            "a request that was changed after it was signed is refused",
            [
                there,
                Step(
                    put { $0.change = ("/a HTTP", "/b HTTP") },
                    .refusal(403, "SignatureDoesNotMatch")),
                Step(
                    put {
                        $0.headers = ["x-amz-meta-sha256:01"]
                        $0.change = ("sha256: 01", "sha256: 02")
                    }, .refusal(403, "SignatureDoesNotMatch")),
                Step(
                    put {
                        $0.headers = ["if-none-match:*"]
                        $0.change = ("none-match: *", "none-match: x")
                    }, .refusal(403, "SignatureDoesNotMatch")), untouched,
                Step(.head("b"), .failed(.notFound)),
            ]),
        StoreCase(
            "another region's signature is refused, or the region is nobody's business",
            [Step(put { $0.region = "eu-mars-1" }, .answer(200))]),
        StoreCase(
            "a clock may be off by a quarter of an hour",
            [
                Step(put { $0.clock = 14 * 60 }, .answer(200)),
                Step(put { $0.clock = -14 * 60 }, .answer(200)),
                Step(put { $0.clock = 20 * 60 }, .refusal(403, "RequestTimeTooSkewed")),
                Step(put { $0.clock = -20 * 60 }, .refusal(403, "RequestTimeTooSkewed")),
                Step(put { $0.clock = 86_400 }, .refusal(403, "RequestTimeTooSkewed")),
            ]),
        StoreCase(
            "a client whose clock is off signs by the store's",
            [
                Step(.by(.admin, clock: 3_600, .put("a", "one")), .done),
                Step(.by(.admin, clock: -86_400, .head("a")), .size(3)),
                Step(.by(.admin, clock: 3_600, .list()), .keys(["a"])),
            ]),
        StoreCase(
            "a link reads one object until it ends",
            [
                there, Step(.link("a", Link()), .text("one")),
                Step(.link("a", Link(seconds: 7 * 86_400)), .text("one")),
                Step(.link("a", Link(seconds: 60, age: 59 - 30)), .text("one")),
                Step(.link("a", Link(seconds: 60, age: 120)), .refusal(403, "AccessDenied")),
                Step(.link("b", Link()), .refusal(404, "NoSuchKey")),
            ]),
        StoreCase(
            "a link that was changed leads nowhere",
            [
                there, Step(.put("b", "two"), .done),
                Step(
                    .link("a", Link(change: ("Expires=60", "Expires=61"))),
                    .refusal(403, "SignatureDoesNotMatch")),
                Step(
                    .link("a", Link(change: ("/a?", "/b?"))),
                    .refusal(403, "SignatureDoesNotMatch")),
                Step(.link("a", Link(method: "PUT")), .refusal(403, "SignatureDoesNotMatch")),
                Step(.link("a", Link(method: "DELETE")), .refusal(403, "SignatureDoesNotMatch")),
                Step(
                    .link("a", Link(seconds: 60, age: 120, change: ("Expires=60", "Expires=600"))),
                    .refusal(403, "SignatureDoesNotMatch")), untouched,
            ]),
        StoreCase(
            "who may only read writes nothing",
            [
                there, Step(.by(.reader, .get("a")), .text("one")),
                Step(.by(.reader, .list()), .keys(["a"])),
                Step(.by(.reader, .put("a", "two")), .failed(.denied)),
                Step(.by(.reader, .put("b", "two", if: .absent)), .failed(.denied)),
                Step(.by(.reader, .copy("a", to: "b", tag: "*")), .failed(.denied)),
                Step(.by(.reader, .large("b", mebibytes: 6)), .failed(.denied)),
                Step(.by(.reader, .remove(["a"])), .failed(.denied)), untouched,
                Step(.list(), .keys(["a"])),
            ]),
        StoreCase(
            "a bucket that is not there is reported",
            [
                Step(.by(.admin, bucket: "no-such-bucket", .put("a", "")), .failed(.misconfigured)),
                Step(.by(.admin, bucket: "no-such-bucket", .get("a")), .failed(.misconfigured)),
                Step(.by(.admin, bucket: "no-such-bucket", .list()), .failed(.misconfigured)),
            ]),
        StoreCase(
            "bytes that are not their checksum are not kept",
            [
                Step(.harmed("b", "bytes"), .failed(.corrupt)),
                Step(.head("b"), .failed(.notFound)),
                there, Step(.harmed("a", "bytes"), .failed(.corrupt)), untouched,
                Step(
                    put { $0.headers = ["content-md5:AAAAAAAAAAAAAAAAAAAAAA=="] },
                    .refusal(400, "BadDigest")),
                Step(
                    put { $0.payload = BlobDigest(of: [4]).hex }, .answer(200),
                    but: [.ceph: .refusal(400, "XAmzContentSHA256Mismatch")]),
                Step(
                    put { $0.headers = ["x-amz-checksum-sha256:" + BlobDigest(of: [4]).base64] },
                    .refusal(400, "BadDigest"), but: [.ceph: .answer(200)]),
            ]),
        StoreCase(
            "a body that is cut off leaves no object, and the old one as it is",
            [
                there, Step(put { $0.sent = 3 }, cutOff, but: cutOffByCeph), untouched,
                Step(
                    .raw(
                        RawRequest("PUT", "b") {
                            $0.body = String(repeating: "x", count: 1 << 20)
                            $0.sent = 1 << 19
                        }), cutOff, but: cutOffByCeph), Step(.head("b"), .failed(.notFound)),
                Step(.list(), .keys(["a"])),
            ]),
        StoreCase(
            "a body of which nothing comes is no empty object where it has its checksum",
            [
                there,
                Step(
                    put {
                        $0.headers = [
                            "x-amz-checksum-sha256:" + BlobDigest(of: "forged".utf8).base64
                        ]
                        $0.sent = 0
                    }, .refusal(400, "BadDigest"), but: cutOffByCeph), untouched,
                // So every request of our client has a checksum.
                Step(put { $0.sent = 0 }, .answer(200), but: cutOffByCeph),
                Step(.get("a"), .text(""), but: [.ceph: .text("one")]),
            ]),
    ]
}
