import BlobStore
import MinilabTesting

extension StoreCase {
    /// Names of objects that are easily mistaken on their way.
    private static let names = [
        "a b", "a+b", "a%41", "a%2Fb", "ä/ü", "a\u{308}", "日本/写真", "\u{1F4F7}.jpg",
        "<&>'\"", "a?b#c", "~!$()*,;=@", "[]{}|^`", "...", "a.", "-", "*", "a:b", "A", "a=b&c=d",
        String(repeating: "x", count: 255), String(repeating: "ä", count: 127),
    ]

    /// A key in components of 200, behind the twelve bytes of the test's own prefix.
    private static func long(_ bytes: Int) -> String {
        (12..<bytes).map { $0 % 200 == 199 ? "/" : "x" }.joined()
    }

    /// Keys.
    static let keys =
        names.map { name in
            StoreCase(
                "the key \(name.prefix(20)) is kept as it is",
                [
                    Step(.put(name, "one"), .done), Step(.get(name), .text("one")),
                    Step(.list(), .keys([name])), Step(.list(name), .keys([name])),
                    Step(
                        .put("\(name).1", "two"), name.utf8.count > 253 ? .failed(.invalid) : .done),
                    Step(.list(after: name), .keys(name.utf8.count > 253 ? [] : ["\(name).1"])),
                    Step(.copy(name, to: "copy", tag: "*"), .done), Step(.remove([name]), .done),
                    Step(.head(name), .failed(.notFound)),
                ])
        } + [
            StoreCase(
                "names that differ in case or in their form of Unicode are two",
                [
                    Step(.put("a", "small"), .done), Step(.put("A", "large"), .done),
                    Step(.put("\u{E4}", "one"), .done), Step(.put("a\u{308}", "two"), .done),
                    Step(.get("a"), .text("small")), Step(.get("\u{E4}"), .text("one")),
                    Step(.get("a\u{308}"), .text("two")),
                ]),
            StoreCase(
                "an object may lie below another one's name",
                [
                    Step(.put("a", "one"), .done), Step(.put("a/b", "two"), .done),
                    Step(.get("a"), .text("one")), Step(.list(), .keys(["a", "a/b"])),
                    Step(.remove(["a"]), .done), Step(.get("a/b"), .text("two")),
                    Step(.head("a"), .failed(.notFound)),
                ]),
            StoreCase(
                "a key may have 1,024 bytes",
                [
                    Step(.put(long(1_024), "one"), .done), Step(.get(long(1_024)), .text("one")),
                    Step(.list(), .keys([long(1_024)])), Step(.remove([long(1_024)]), .done),
                    Step(.put(long(1_025), "one"), .failed(.invalid)),
                    Step(
                        .raw(RawRequest("PUT", long(1_025))), .refusal(400, "KeyTooLongError"),
                        but: [.ceph: .refusal(400, "InvalidObjectName")]),
                ]),
            StoreCase(
                "a backslash is a slash for some",
                [
                    Step(.put("a\\b", ""), .failed(.invalid)),
                    Step(.raw(RawRequest("PUT", "a\\b")), .answer(200)),
                    Step(.list(), .keys(["a\\b"]), but: [.seaweed: .keys(["a/b"])]),
                ]),
            StoreCase(
                "a component of 256 bytes is one too long for some",
                [
                    Step(.put(String(repeating: "x", count: 256), ""), .failed(.invalid)),
                    Step(
                        .raw(RawRequest("PUT", String(repeating: "x", count: 256))),
                        .refusal(400, "KeyTooLongError"), but: [.ceph: .answer(200)]),
                ]),
        ]

    /// Lists.
    static let lists = [
        StoreCase(
            "a list begins after any key, and has an order of its own only beside folders",
            [
                Step(.put("b/1", ""), .done), Step(.put("B", ""), .done),
                Step(.put("a-b", ""), .done), Step(.put("a/b", ""), .done),
                Step(.put("ab", ""), .done), Step(.put("a", ""), .done), Step(.put("ä", ""), .done),
                Step(
                    .list(), .keys(["B", "a", "a-b", "a/b", "ab", "b/1", "ä"]),
                    but: [.seaweed: .keys(["B", "a", "a/b", "a-b", "ab", "b/1", "ä"])]),
                Step(
                    .list("a"), .keys(["a", "a-b", "a/b", "ab"]),
                    but: [.seaweed: .keys(["a", "a/b", "a-b", "ab"])]),
                Step(.list("a/"), .keys(["a/b"])), Step(.list("c"), .keys([])),
                Step(
                    .list(after: "a-b"), .keys(["a/b", "ab", "b/1", "ä"]),
                    but: [.seaweed: .keys(["ab", "b/1", "ä"])]),
                Step(
                    .list("a", after: "a/b"), .keys(["ab"]), but: [.seaweed: .keys(["a-b", "ab"])]),
                Step(.list(after: "aa"), .keys(["ab", "b/1", "ä"])),
                Step(.list(after: "b/0"), .keys(["b/1", "ä"])),
                Step(.list(after: "ä"), .keys([])),
            ]),
        StoreCase(
            "a page says that there are more, and a token leads on",
            [
                Step(.put("a", ""), .done), Step(.put("b", ""), .done), Step(.put("c", ""), .done),
                Step(
                    .raw(
                        RawRequest("GET", nil) {
                            $0.query = ["list-type=2", "max-keys=2", "prefix={prefix}/"]
                            $0.shows = ["KeyCount", "IsTruncated"]
                            $0.remembers = ["NextContinuationToken"]
                        }), .answer(200, ["2", "true"])),
                Step(
                    .raw(
                        RawRequest("GET", nil) {
                            $0.query = [
                                "list-type=2", "prefix={prefix}/",
                                "continuation-token={NextContinuationToken}",
                            ]
                            $0.shows = ["KeyCount", "IsTruncated"]
                        }), .answer(200, ["1", "false"])),
            ]),
        StoreCase(
            "a list shows a write and a removal at once",
            [
                Step(.put("a", "one"), .done), Step(.list(), .keys(["a"])),
                Step(.put("a", "two"), .done), Step(.list(), .keys(["a"])),
                Step(.remove(["a"]), .done), Step(.list(), .keys([])),
            ]),
    ]
}
