import BlobStore
import MinilabTesting

extension StoreCase {
    private static let fiveMebibytes = String(repeating: "a", count: 5 << 20)

    private static let begin = Step(
        .raw(
            RawRequest("POST", "a") {
                $0.query = ["uploads="]
                $0.remembers = ["UploadId"]
            }), .answer(200))

    private static func part(_ number: Int, _ body: String, _ expected: Seen = .answer(200)) -> Step
    {
        Step(
            .raw(
                RawRequest("PUT", "a") {
                    $0.query = ["partNumber=\(number)", "uploadId={UploadId}"]
                    $0.body = body
                }), expected)
    }

    private static func complete(
        _ parts: [(number: Int, body: String)], _ expected: Seen,
        but known: [StoreServer: Seen] = [:],
        _ headers: [String] = []
    ) -> Step {
        // A part's tag is the MD5 of its bytes on all servers that are here; to clients it is opaque.
        let list = parts.map {
            "<Part><PartNumber>\($0.number)</PartNumber><ETag>\(RawRequest.md5($0.body))</ETag></Part>"
        }
        return Step(
            .raw(
                RawRequest("POST", "a") {
                    $0.query = ["uploadId={UploadId}"]
                    $0.headers = headers
                    $0.body = "<CompleteMultipartUpload>\(list.joined())</CompleteMultipartUpload>"
                }), expected, but: known)
    }

    private static let abort = Step(
        .raw(RawRequest("DELETE", "a") { $0.query = ["uploadId={UploadId}"] }), .answer(204))

    private static let two = [(1, fiveMebibytes), (2, "end")]

    /// Objects in parts.
    static let parts = [
        StoreCase(
            "parts are one object when all are named, and nothing before",
            [
                begin, part(2, "end"), part(1, fiveMebibytes), Step(.head("a"), .failed(.notFound)),
                Step(.list(), .keys([])), complete(two, .answer(200)),
                Step(.head("a"), .size((5 << 20) + 3)),
                Step(.get("a", (5 << 20) - 1..<(5 << 20) + 3), .text("aend")),
                Step(.list(), .keys(["a"])),
            ]),
        StoreCase(
            "a completion whose answer was lost is answered again, or its upload is gone",
            [
                begin, part(1, "one"), complete([(1, "one")], .answer(200)),
                complete([(1, "one")], .answer(200)), Step(.get("a"), .text("one")),
            ]),
        StoreCase(
            "an upload that is aborted leaves nothing",
            [
                begin, part(1, "one"), abort, part(2, "two", .refusal(404, "NoSuchUpload")),
                Step(.head("a"), .failed(.notFound)),
                complete(
                    [(1, "one")], .refusal(404, "NoSuchUpload"),
                    but: [.ceph: .refusal(500, "InternalError")]),
                Step(.head("a"), .failed(.notFound)),
            ]),
        StoreCase(
            "what is left over can be found and aborted",
            [
                begin, part(1, "one"),
                Step(
                    .raw(
                        RawRequest("GET", nil) {
                            $0.query = ["uploads=", "prefix={prefix}/"]
                            $0.shows = ["Key"]
                        }), .answer(200, ["{prefix}/a"])), abort,
                Step(
                    .raw(
                        RawRequest("GET", nil) {
                            $0.query = ["uploads=", "prefix={prefix}/"]
                            $0.shows = ["Key"]
                        }), .answer(200, [""])),
            ]),
        StoreCase(
            "a part that is sent again replaces the one before",
            [
                begin, part(1, "one"), part(1, "two"), complete([(1, "two")], .answer(200)),
                Step(.get("a"), .text("two")),
            ]),
        StoreCase(
            "a part too small, a wrong tag and a part that is not there are refused",
            [
                begin, part(1, "one"), part(2, "two"),
                complete([(1, "one"), (2, "two")], .refusal(400, "EntityTooSmall")),
                complete([(1, "other")], .refusal(400, "InvalidPart")),
                complete([(3, "three")], .refusal(400, "InvalidPart")),
                complete(
                    [], .refusal(400, "MalformedXML"),
                    but: [.seaweed: .refusal(404, "NoSuchUpload")]),
                Step(.head("a"), .failed(.notFound)),
            ]),
        StoreCase(
            "an upload replaces an object only when it is completed",
            [
                Step(.put("a", "old"), .done), begin, part(1, "new"), Step(.get("a"), .text("old")),
                complete([(1, "new")], .answer(200)), Step(.get("a"), .text("new")),
            ]),
        StoreCase(
            "completions on a condition are not for everybody: nothing may rest on them",
            [
                Step(.put("a", "old"), .done), begin, part(1, "new"),
                complete(
                    [(1, "new")], .refusal(412, "PreconditionFailed"), but: [.ceph: .answer(200)],
                    ["if-none-match:*"]),
            ]),
        StoreCase(
            "an upload of nobody is reported",
            [
                Step(
                    .raw(
                        RawRequest("PUT", "a") {
                            $0.query = ["partNumber=1", "uploadId=00000000-none"]
                        }), .refusal(404, "NoSuchUpload"))
            ]),
    ]
}
