import Foundation
import MinilabTesting

/// Lies that no worker may believe, whatever the rest of the answer is.
enum Lies {
    private static let inspection = "content.inspected._0"

    /// Of what a photo is and how it is rendered.
    static let plans: [TestLie] = {
        let values: [(String, String)] = [
            ("memoryBytes", "9223372036854775807"), ("header.storedSize.width", "0"),
            ("plan.resultSize.height", "1e999"), ("plan.estimate.cpuSeconds", "NaN"),
            ("plan.resultSize", #"{"width":63,"height":48}"#), ("plan.output.format", #""tiff""#),
            ("plan.lane", #""copy""#), ("header.notes", #"["\u001B[31mred"]"#),
            ("words", #"["one\ntwo"]"#), ("recipe.filters", "[]"),
            ("recipe.filters", #"[{"name":"auto"}]"#), ("recipe.output.previews", "[16,17]"),
        ]
        let answers: [(String, String)] = [
            ("number", "1"), ("number", "9007199254740993"), ("number", "-1"),
            ("content", #"{"rendered":{}}"#), ("content", #"{"confined":{"_0":{"gaps":[]}}}"#),
        ]
        return values.map { .value(.inspected, at: "\(inspection).\($0.0)", is: $0.1) }
            + answers.map { .value(.inspected, at: $0.0, is: $0.1) }
    }()

    /// Of how far a render is, and how it ended.
    static let lines: [TestLie] = {
        let places: [TestLie] = ["3", "-1", "9223372036854775807", "0.5"].map {
            .value(.progress, at: "content.progress._0.written._0", is: $0)
        }
        // The placeholder is a rendition, and the first one that is reported.
        let made: [TestLie] = [
            ("_0", "3"), ("_0", "-1"), ("_0", "1"), ("_1.width", "0"), ("_1.height", "1e10"),
            ("_1.quality", "1.5"), ("_1.quality", "null"), ("_1.encodes", "2"),
            ("_1.hash", #"{"thumb":"a"}"#),
        ].map { .value(.progress, at: "content.progress._0.made.\($0.0)", is: $0.1) }
        let contents: [TestLie] = [
            #"{"inspected":{}}"#,
            #"{"failed":{"_0":{"code":"damagedPhoto","message":"m","signal":9}}}"#,
            #"{"failed":{"_0":{"code":"noSuchCode","message":"m"}}}"#,
            #"{"failed":{"_0":{"code":"storeUnavailable","message":"m"}}}"#,
            #"{"failed":{"_0":{"code":"damagedPhoto","message":"\u001B[2J"}}}"#,
            #"{"failed":{"_0":{"code":"damagedPhoto","message":"two\nlines"}}}"#,
            #"{"refused":{"_0":{"code":"damagedPhoto","message":"\u202E"}}}"#,
        ].map { .value(.rendered, at: "content", is: $0) }
        let version1 = #"{"ok":true,"file":"../../originals","mediaType":"image/png"}"#
        let texts: [Data] = [
            Data(), Data("{}".utf8), Data([0xFF, 0xFE, 0]), Data(version1.utf8),
        ]
        return places + made + contents + [.value(.rendered, at: "number", is: "2")]
            + texts.map { .line($0) }
    }()

    /// Of what is in an output.
    static let files: [TestLie] = [
        .result(Data()), .result(Data("no picture".utf8)),
        .result(SyntheticPhoto.png(width: 63, height: 48)), .result(jpeg(width: 64, height: 48)),
        .length(1 << 40), .length(100 << 20), .placeholder(Data()),
        .placeholder(SyntheticPhoto.png(width: 8, height: 6)),
        .placeholder(jpeg(width: 35, height: 35)),
        .placeholder(jpeg(width: 32, height: 24, length: 8193)),
    ]

    /// Of other kinds. Lines that are long are made where they are written: no environment has room for them.
    static let misbehaviours: [TestLie] = [
        .misbehaviour(.manyProgress), .misbehaviour(.noProgress), .misbehaviour(.endlessLine),
        .misbehaviour(.longLine),
        .misbehaviour(.longSentence), .misbehaviour(.nestedLine), .misbehaviour(.closeOutput),
    ]

    /// A JPEG of which there is a header alone.
    private static func jpeg(width: UInt8, height: UInt8, length: Int = 0) -> Data {
        let head: [UInt8] = [
            0xFF, 0xD8, 0xFF, 0xC0, 0, 17, 8, 0, height, 0, width, 3, 1, 0x11, 0, 2, 0x11, 0, 3,
            0x11, 0, 0xFF, 0xD9,
        ]
        return Data(head + [UInt8](repeating: 0, count: max(0, length - head.count)))
    }
}
