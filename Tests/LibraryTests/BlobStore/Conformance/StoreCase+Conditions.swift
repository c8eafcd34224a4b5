import BlobStore
import MinilabTesting

extension StoreCase {
    private static func put(
        _ body: String, _ header: String, _ set: (inout RawRequest) -> Void = { _ in }
    ) -> Action {
        .raw(
            RawRequest("PUT", "a") {
                $0.headers = [header]
                $0.body = body
                set(&$0)
            })
    }

    /// Conditional writes, on which commits rest.
    static let conditions = [
        StoreCase(
            "an absent object is written once",
            [
                Step(.put("a", "one", if: .absent), .done),
                Step(.put("a", "two", if: .absent), .failed(.precondition)),
                Step(.get("a"), .text("one")), Step(.remove(["a"]), .done),
                Step(.put("a", "three", if: .absent), .done), Step(.get("a"), .text("three")),
            ]),
        StoreCase(
            "a tag holds until the next write",
            [
                Step(.put("a", "one", as: "first"), .done),
                Step(.put("a", "two", if: .tag("first"), as: "second"), .done),
                Step(.put("a", "three", if: .tag("first")), .failed(.precondition)),
                Step(.get("a"), .text("two")), Step(.put("a", "four", if: .tag("second")), .done),
                Step(.get("a"), .text("four")),
            ]),
        StoreCase(
            "a tag that no store gives holds for nothing",
            [
                Step(.put("a", "one"), .done),
                Step(.put("a", "two", if: .tag("made-up")), .failed(.precondition)),
                Step(
                    .put("a", "two", if: .tag("d41d8cd98f00b204e9800998ecf8427e")),
                    .failed(.precondition)), Step(.get("a"), .text("one")),
            ]),
        StoreCase(
            "a tag holds for no object that is not there",
            [
                Step(.put("a", "one", as: "first"), .done),
                Step(.put("b", "two", if: .tag("first")), .failed(.precondition)),
                Step(.head("b"), .failed(.notFound)), Step(.remove(["a"]), .done),
                Step(.put("a", "two", if: .tag("first")), .failed(.precondition)),
                Step(.head("a"), .failed(.notFound)),
            ]),
        StoreCase(
            "equal bytes bring a tag back: so no two heads are equal",
            [
                Step(.put("a", "one", as: "first"), .done), Step(.put("a", "two"), .done),
                Step(.put("a", "one"), .done), Step(.put("a", "three", if: .tag("first")), .done),
            ]),
        StoreCase(
            "a large object is replaced on its tag",
            [
                Step(.large("a", mebibytes: 6), .size(6 << 20)),
                Step(.put("a", "one", if: .absent), .failed(.precondition)),
                Step(
                    .raw(RawRequest("HEAD", "a") { $0.remembers = ["etag"] }), .answer(200)),
                Step(.put("a", "two", if: .tag("etag")), .done), Step(.get("a"), .text("two")),
            ]),
        StoreCase(
            "an empty object is there",
            [
                Step(.put("a", "", if: .absent, as: "first"), .done),
                Step(.put("a", "one", if: .absent), .failed(.precondition)),
                Step(.put("a", "one", if: .tag("first")), .done),
            ]),
        StoreCase(
            "of many that write an absent object one wins",
            [
                Step(.race("a", 12, if: .absent), .won(1)),
                Step(.race("b", 12, if: .absent), .won(1)),
                Step(.race("c", 12, if: .absent), .won(1)),
                Step(.race("a", 12, if: .absent), .won(0)),
            ]),
        StoreCase(
            "of many that write on one tag one wins",
            [
                Step(.put("a", "1", as: "first"), .done),
                Step(.race("a", 12, if: .tag("first")), .won(1)),
                Step(.put("a", "2", as: "second"), .done),
                Step(.race("a", 12, if: .tag("second")), .won(1)),
                Step(.race("a", 12, if: .tag("second")), .won(0)),
            ]),
        StoreCase(
            "an unquoted tag is compared, a quoted one not by all",
            [
                Step(.put("a", "one", as: "first"), .done),
                Step(
                    put("two", "if-match:\"{first}\"") { $0.remembers = ["etag"] }, .answer(200),
                    but: [.ceph: .refusal(412, "PreconditionFailed")]),
                Step(.put("a", "three", as: "third"), .done),
                Step(put("four", "if-match:{third}"), .answer(200)),
                Step(put("five", "if-match:{third}"), .refusal(412, "PreconditionFailed")),
                Step(put("six", "if-match:\"{third}\""), .refusal(412, "PreconditionFailed")),
                Step(.get("a"), .text("four")),
            ]),
        StoreCase(
            "any tag holds for what is there",
            [
                Step(put("one", "if-match:*"), .refusal(412, "PreconditionFailed")),
                Step(.put("a", "one"), .done), Step(put("two", "if-match:*"), .answer(200)),
                Step(.get("a"), .text("two")),
            ]),
        StoreCase(
            "a write that is refused leaves the metadata, too",
            [
                Step(put("one", "x-amz-meta-sha256:01"), .answer(200)),
                Step(
                    put("two", "x-amz-meta-sha256:02") { $0.headers.append("if-none-match:*") },
                    .refusal(412, "PreconditionFailed")),
                Step(
                    .raw(RawRequest("HEAD", "a") { $0.shows = ["x-amz-meta-sha256"] }),
                    .answer(200, ["01"])),
            ]),
        StoreCase(
            "removals on a condition are not for everybody: nothing may rest on them",
            [
                Step(.put("a", "one"), .done),
                Step(
                    .raw(RawRequest("DELETE", "a") { $0.headers = ["if-match:made-up"] }),
                    .refusal(412, "PreconditionFailed"), but: [.ceph: .answer(204)]),
            ]),
    ]
}
