import BlobStore
import MinilabTesting

extension StoreCase {
    /// Objects as they are written and read.
    static let objects = [
        StoreCase(
            "bytes come back as they were written, and the last ones count",
            [
                Step(.put("a", "one"), .done), Step(.get("a"), .text("one")),
                Step(.put("a", "two!"), .done), Step(.get("a"), .text("two!")),
                Step(.head("a"), .size(4)),
            ]),
        StoreCase(
            "an object may be empty",
            [
                Step(.put("a", ""), .done), Step(.head("a"), .size(0)), Step(.get("a"), .text("")),
                Step(.list(), .keys(["a"])),
            ]),
        StoreCase(
            "a large object goes in parts", [Step(.large("a", mebibytes: 12), .size(12 << 20))]),
        StoreCase("one of five MiB goes whole", [Step(.large("a", mebibytes: 5), .size(5 << 20))]),
        StoreCase(
            "an object that is not there is reported",
            [
                Step(.head("a"), .failed(.notFound)), Step(.get("a"), .failed(.notFound)),
                Step(.copy("a", to: "b", tag: "x"), .failed(.notFound)),
                Step(.raw(RawRequest("GET", "a")), .refusal(404, "NoSuchKey")),
                Step(.raw(RawRequest("HEAD", "a")), .answer(404)),
            ]),
        StoreCase(
            "what is removed is gone, and may be removed again",
            [
                Step(.put("a", "one"), .done), Step(.remove(["a", "never"]), .done),
                Step(.head("a"), .failed(.notFound)), Step(.list(), .keys([])),
                Step(.remove(["a"]), .done),
            ]),
        StoreCase(
            "a range is read, one that goes beyond the end as far as there is something",
            [
                Step(.put("a", "0123456789"), .done), Step(.get("a", 3..<5), .text("34")),
                Step(.get("a", 8..<99), .text("89")), Step(.get("a", 10..<11), .failed(.invalid)),
                Step(
                    .raw(
                        RawRequest("GET", "a") {
                            $0.headers = ["range:bytes=-3"]
                            $0.shows = ["content-range"]
                        }), .answer(206, ["bytes 7-9/10"])),
            ]),
        StoreCase(
            "a read on a tag gets that content or nothing",
            [
                Step(.put("a", "one", as: "first"), .done),
                Step(.get("a", tag: "first"), .text("one")), Step(.put("a", "two"), .done),
                Step(.get("a", tag: "first"), .failed(.changed)),
                Step(.get("a", 0..<2, tag: "first"), .failed(.changed)),
            ]),
        StoreCase(
            "an unchanged object need not be read again",
            [
                Step(.put("a", "one", as: "first"), .done),
                Step(
                    .raw(RawRequest("GET", "a") { $0.headers = ["if-none-match:\"{first}\""] }),
                    .answer(304)),
            ]),
        StoreCase(
            "media type and metadata are kept",
            [
                Step(
                    .raw(
                        RawRequest("PUT", "a") {
                            $0.headers = ["content-type:image/heic", "x-amz-meta-sha256:00ff"]
                            $0.body = "photo"
                        }), .answer(200)),
                Step(
                    .raw(
                        RawRequest("HEAD", "a") {
                            $0.shows = ["content-type", "content-length", "x-amz-meta-sha256"]
                        }), .answer(200, ["image/heic", "5", "00ff"])),
            ]),
        StoreCase(
            "a copy has the content, type and metadata of its source",
            [
                Step(
                    .raw(
                        RawRequest("PUT", "a") {
                            $0.headers = ["content-type:image/heic", "x-amz-meta-sha256:00ff"]
                            $0.body = "photo"
                            $0.remembers = ["etag"]
                        }), .answer(200)),
                Step(.copy("a", to: "b", tag: "etag"), .done), Step(.get("b"), .text("photo")),
                Step(
                    .raw(
                        RawRequest("HEAD", "b") {
                            $0.shows = ["content-type", "x-amz-meta-sha256"]
                        }
                    ), .answer(200, ["image/heic", "00ff"])),
            ]),
        StoreCase(
            "a copy on a tag that was replaced is not made, or nothing may rest on it",
            [
                Step(.put("a", "one", as: "first"), .done), Step(.put("a", "two"), .done),
                Step(
                    .copy("a", to: "b", tag: "first"), .failed(.changed), but: [.ceph: .done]),
                Step(.head("b"), .failed(.notFound), but: [.ceph: .size(3)]),
            ]),
        StoreCase(
            "encryption with the store's own keys may be asked for",
            [
                // Ceph 16 takes it over TLS only.
                Step(
                    .raw(
                        RawRequest("PUT", "a") {
                            $0.headers = ["x-amz-server-side-encryption:AES256"]
                        }), .answer(200), but: [.ceph: .refusal(400, "InvalidRequest")])
            ]),
    ]
}
