import Edits
import Filters
import Foundation
import MinilabTesting
import Testing

@testable import Editors

@Suite("com.apple.photo: reading") struct ApplePhotoTests {
    private let exact = ApplePhoto(lookAlikes: false)
    private let alike = ApplePhoto(lookAlikes: true)

    /// The data of a document with these adjustments, as JSON.
    private func data(
        _ adjustments: String, orientation: Int = 1, master: (Int, Int) = (400, 300)
    ) -> Data {
        raw(
            """
            {"metadata": {"masterWidth": \(master.0), "masterHeight": \(master.1), "orientation": \(orientation)},
             "formatVersion": 1, "adjustments": [\(adjustments)]}
            """)
    }

    private func raw(_ json: String) -> Data { Deflate.deflate(Data(json.utf8), .none) }

    private func crop(
        _ x: String, _ y: String, _ width: String, _ height: String, _ more: String = ""
    )
        -> String
    {
        """
        {"identifier": "Crop", "enabled": true, "formatVersion": 1, "settings":
         {"xOrigin": \(x), "yOrigin": \(y), "width": \(width), "height": \(height)\(more)}}
        """
    }

    private func adjustment(_ identifier: String, _ settings: String, enabled: String = "true")
        -> String
    {
        #"{"identifier": "\#(identifier)", "enabled": \#(enabled), "settings": {\#(settings)}}"#
    }

    /// What a sidecar of the fixtures holds.
    private func payload(_ name: String) throws -> Data {
        let file = Repository.fixture("AAE/\(name).AAE")
        return try AAESidecar(bytes: Data(contentsOf: file)).adjustmentData
    }

    // MARK: Geometry

    @Test func `a crop of Apple's Photos counts from the bottom left`() throws {
        let photo = EditedPhoto(
            storedSize: PixelSize(width: 2048, height: 1367), orientation: .upright)
        #expect(
            try exact.filters(payload("wedding"), of: photo) == [
                try Filter("CICrop", ["rectangle": [0, 1, 1526, 1325]])
            ])
    }

    /// StackOverflow 61023739: a phone that is held upright and crops to 16 : 9.
    @Test func `an iPhone's crop of a photo on its side is one of the photo as stored`() throws {
        let data = try #require(
            Data(
                base64Encoded: """
                    bZBNT8JAEIb/y5wrKaBg9mbwIBdJNNGD8TC003bNfjS7U5CQ/nenW0o4eNt95+t9nzNY
                    YiyREdQZLEam8EK6bhjUfb5cZBftU5fcgFosVo8Z+KDJMbL2DtSqz6DywSJ/UIhJmmdw
                    GN9bV/lh8b7Tpnzt7J4CKJivnx9yyADb9joD8o9FQxbf6KBHLc+gNcjDdmnQu3eQW1j+
                    dJGtGIigvs7/3CaHe0MlKA4dyVZi1q6Og48THtNaSVBrh2YTfDv1/e6SmOrRYhACFZoo
                    leMYfuRxmtqWa0EROeBAi9yTqw2BupNp7Nhfh5sLzRFd4V0acTxRzm/FC+YhuOZieEli
                    XUpYXenELjmeiG9vK4W3MyFqaNY2Xgz03/0f
                    """, options: .ignoreUnknownCharacters))
        let photo = EditedPhoto(
            storedSize: PixelSize(width: 4032, height: 3024), orientation: .right)
        #expect(
            try exact.filters(data, of: photo) == [
                try Filter("CICrop", ["rectangle": [378, 0, 2268, 4032]])
            ])
    }

    @Test func `turning a photo changes the orientation of the document alone`() throws {
        #expect(
            try exact.filters(data("", orientation: 6)) == [try Filter("turn", ["degrees": 90])])
        #expect(
            try exact.filters(data("", orientation: 4)) == [
                try Filter("flip", ["axis": "vertical"])
            ])
        let onItsSide = EditedPhoto(
            storedSize: PixelSize(width: 400, height: 300), orientation: .right)
        #expect(
            try exact.filters(data("", orientation: 1), of: onItsSide) == [
                try Filter("turn", ["degrees": 270])
            ])
    }

    @Test(arguments: [0, 8]) func `an edit that leaves the photo as it lies does nothing`(
        _ orientation: Int
    ) throws {
        let photo = EditedPhoto(storedSize: PixelSize(width: 400, height: 300), orientation: .left)
        let filters = try exact.filters(
            data(crop("0", "0", "400", "300"), orientation: orientation), of: photo)
        #expect(filters.isEmpty)
    }

    @Test(arguments: ["straightenAngle", "pitch", "yaw"])
    func `a crop that turns the photo by an angle cannot be handled`(_ angle: String) throws {
        let turned = data(crop("0", "0", "10", "10", #", "\#(angle)": -1.5"#))
        #expect(try exact.reason(turned).contains("\(angle) -1.5"))
        let straight = data(crop("0", "0", "10", "10", #", "\#(angle)": -0"#))
        #expect(try exact.filters(straight).count == 1)
    }

    @Test(arguments: [
        ("0", "0", "401", "300"), ("-1", "0", "10", "10"), ("400", "0", "1", "1"),
        ("0", "0", "0", "10"), ("0", "0", "10", "-10"), ("0.5", "0", "10", "10"),
        ("0", "0", "1e300", "10"), ("999999999", "999999999", "999999999", "999999999"),
        ("9223372036854775807", "0", "1", "1"),
    ])
    func `a crop beyond the photo, of nothing or of parts of pixels cannot be handled`(
        _ x: String, _ y: String, _ width: String, _ height: String
    ) throws {
        #expect(try exact.reason(data(crop(x, y, width, height))).contains("crop"))
    }

    @Test func `a crop of a photo of another size cannot be handled`() throws {
        let reason = try exact.reason(data(crop("0", "0", "10", "10"), master: (4032, 3024)))
        #expect(reason.contains("4032×3024") && reason.contains("400×300"))
    }

    @Test func `a crop with a setting that is not known cannot be handled`() throws {
        let reason = try exact.reason(data(crop("0", "0", "10", "10", #", "skew": 0"#)))
        #expect(reason.contains("skew"))
    }

    // MARK: Tone and colour

    @Test func `tone and colour at rest are no change, whatever was found out about the photo`()
        throws
    {
        let filters = try exact.filters(
            data(
                adjustment(
                    "SmartTone",
                    #""inputLight": 0, "offsetExposure": 0, "statistics": {"a": [1]}, "lightMap": "x""#
                )
                    + ","
                    + adjustment("SmartColor", #""inputColor": 0, "offsetCast": 0, "auto": false"#))
        )
        #expect(filters.isEmpty)
    }

    @Test func `what is switched off is passed over`() throws {
        let filters = try exact.filters(
            data(
                adjustment("Effect", #""effectName": "Noir""#, enabled: "false") + ","
                    + adjustment("DepthEffect", "", enabled: "0")))
        #expect(filters.isEmpty)
    }

    @Test(arguments: [
        "palm": "SmartBlackAndWhite", "sunset": "SmartBlackAndWhite", "tulips": "Effect",
    ])
    func `what there is only a look-alike of is handled only for who asks`(
        _ name: String, _ adjustment: String
    ) throws {
        let reason = try exact.reason(payload(name))
        #expect(reason.contains(adjustment) && reason.contains("look-alike"))
        #expect(try !alike.filters(payload(name)).isEmpty)
    }

    @Test func `look-alikes follow each other as in Photos, then come crop and turn`() throws {
        let filters = try alike.filters(
            data(
                crop("1", "2", "30", "40") + ","
                    + adjustment("SmartBlackAndWhite", #""inputBlackAndWhite": 0"#) + ","
                    + adjustment("SmartTone", #""inputLight": 0.5"#), orientation: 3))
        #expect(
            filters.map(\.name) == ["CIGammaAdjust", "CIColorControls", "CICrop", "turn"])
    }

    @Test func `effects that Core Image has too are its own`() throws {
        let noir = data(adjustment("Effect", #""effectName": "Noir", "effectVersion": 1"#))
        #expect(try alike.filters(noir) == [try Filter("CIPhotoEffectNoir")])
        let deep = data(adjustment("Effect", #""effectName": "3DNoir", "intensity": 1"#))
        #expect(try alike.filters(deep).map(\.name) == ["CIColorControls"])
    }

    @Test func `black and white is a change wherever its slider is`() throws {
        let grey = data(adjustment("SmartBlackAndWhite", #""inputBlackAndWhite": 0"#))
        #expect(try exact.reason(grey).contains("SmartBlackAndWhite"))
        #expect(
            try alike.filters(grey) == [try Filter("CIColorControls", ["saturation": 0])])
    }

    @Test(arguments: [
        ("SmartTone", #""inputLight": 0, "offsetShadows": 0.2"#),
        ("SmartTone", #""inputLight": 9"#),
        ("SmartColor", #""inputColor": 0, "inputNew": 0"#),
        ("WhiteBalance", #""temperature": 5000"#),
        ("Effect", #""effectName": "3DVivid""#),
        ("Effect", #""effectName": "Noir", "intensity": 0.5"#),
        ("Effect", #""effectName": 3"#), ("Retouch", ""), ("PortraitVideo", ""),
        ("RKRawDecodeOperation", ""), ("FromTheFuture", ""),
    ])
    func `what nothing here is like cannot be handled, and is named`(
        _ identifier: String, _ settings: String
    ) throws {
        for codec in [exact, alike] {
            #expect(try codec.reason(data(adjustment(identifier, settings))).contains(identifier))
        }
    }

    @Test(arguments: ["IMG_1853": "LivePhotoKeyFrame", "IMG_3582": "DepthEffect"])
    func `a key frame or a depth effect of a real phone cannot be handled`(
        _ name: String, _ adjustment: String
    ) throws {
        #expect(try alike.reason(payload(name)).contains(adjustment))
    }

    @Test func `the same adjustment twice cannot be handled`() throws {
        let twice = data(crop("0", "0", "10", "10") + "," + crop("0", "0", "20", "20"))
        #expect(try exact.reason(twice).contains("two adjustments Crop"))
    }

    @Test func `drawings of Markup cannot be handled`() throws {
        #expect(try exact.reason(Data("crdt\u{1}\u{2}".utf8)).contains("Markup"))
    }

    // MARK: Bytes

    @Test(arguments: [
        "", "[]", "{", "null", "{}", #"{"adjustments": {}}"#, #"{"adjustments": [1]}"#,
        #"{"adjustments": [{}]}"#, #"{"adjustments": [{"identifier": 1}]}"#,
        #"{"adjustments": [{"identifier": "Crop"}]}"#,
        #"{"adjustments": [{"identifier": "Crop", "settings": []}]}"#,
        #"{"adjustments": [{"identifier": "A", "enabled": "yes"}]}"#,
        #"{"adjustments": [{"identifier": "A", "formatVersion": 2}]}"#,
        #"{"adjustments": [], "formatVersion": 2}"#, #"{"adjustments": [], "metadata": 1}"#,
        #"{"adjustments": [], "metadata": {"orientation": 9}}"#,
        #"{"adjustments": [], "metadata": {"orientation": -1}}"#,
        #"{"adjustments": [], "metadata": {"orientation": 1.5}}"#,
        #"{"adjustments": [], "metadata": {"orientation": 1e308}}"#,
        #"{"adjustments": [], "metadata": {"orientation": 1e999}}"#,
        #"{"adjustments": [], "metadata": {"masterWidth": 1e18}}"#,
        #"{"adjustments": [], "metadata": {"masterWidth": NaN}}"#,
    ])
    func `JSON that is no such document is undecodable`(_ json: String) {
        expect(.adjustmentDataUndecodable, naming: "com.apple.photo") {
            try exact.read(raw(json), of: .landscape)
        }
    }

    @Test func `a document of more bytes than are read cannot be handled`() throws {
        let long = #"{"adjustments": [], "a": ""# + String(repeating: "a", count: 300_000) + #""}"#
        #expect(try exact.reason(raw(long)).contains("131072"))
    }

    @Test func `a document with text beyond ASCII cannot be handled`() throws {
        #expect(try exact.reason(raw(#"{"adjustments": [], "a": "é"}"#)).contains("ASCII"))
    }

    @Test func `a field that nobody asks for may be as deep as the parser goes`() throws {
        let (open, close) = (String(repeating: "[", count: 500), String(repeating: "]", count: 500))
        let filters = try exact.filters(raw(#"{"adjustments": [], "a": \#(open)\#(close)}"#))
        #expect(filters.isEmpty)
    }

    @Test func `documents that are too deep or have too many adjustments are undecodable`() {
        let many = Array(repeating: adjustment("A", ""), count: 65).joined(separator: ",")
        let deep = String(repeating: "[", count: 100_000)
        for data in [data(many), raw(deep)] {
            expect(.adjustmentDataUndecodable) { try exact.read(data, of: .landscape) }
        }
    }

    @Test func `damaged documents never do more than fail`() {
        var generator = SeededGenerator()
        generator.printSeed()
        let json = Array(
            """
            {"metadata":{"masterWidth":400,"masterHeight":300,"orientation":6},"formatVersion":1,"adjustments":[
            {"identifier":"Crop","enabled":true,"settings":{"xOrigin":1,"yOrigin":2,"width":30,"height":40}},
            {"identifier":"SmartTone","settings":{"inputLight":0.5,"offsetExposure":0}}]}
            """.utf8)
        let bits = Array("0123456789.-e{}[]\",:tn ".utf8)
        for round in 0..<2000 {
            var damaged = json
            for _ in 0...(round % 4) {
                let index = Int.random(in: 0..<damaged.count, using: &generator)
                damaged[index] = bits.randomElement(using: &generator) ?? 0
            }
            var data = Deflate.deflate(Data(damaged), .none)
            if round.isMultiple(of: 5) {
                data[Int.random(in: 0..<data.count, using: &generator)] ^= 0x10
            }
            do throws(Failure) {
                _ = try alike.read(data, of: .landscape)
            } catch {
                #expect(error.code == .adjustmentDataUndecodable, "\(error)")
            }
        }
    }

    @Test func `data that are cut off or not deflated are undecodable`() {
        let whole = data(crop("0", "0", "10", "10"))
        for data in [whole.prefix(20), whole + Data([0]), Data("{}".utf8), Data([0x78, 0x9c])] {
            expect(.adjustmentDataUndecodable) { try exact.read(Data(data), of: .landscape) }
        }
    }
}
