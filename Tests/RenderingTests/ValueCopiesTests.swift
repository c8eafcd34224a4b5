import Edits
import Foundation
import MinilabTesting
import PhotoFiles
import RenderProtocol
import Testing

@testable import Rendering

/// A value that is written or removed is nowhere else in the file: exiftool, and the bytes, judge.
@Suite("Copies of a value") struct ValueCopiesTests {
    private static func output(_ metadata: String, _ format: Recipe.Format? = nil) throws
        -> Recipe.Output
    {
        var output = try Recipe(json: #"{"filters":[],"output":{"metadata":\#(metadata)}}"#).output
        output.format = format
        return output
    }

    private func text(_ path: String) throws -> String {
        String(decoding: try Tool.run("exiftool", ["-a", "-u", "-G1", "-s", path]), as: UTF8.self)
    }

    private static func edits() throws -> [[Filter]] {
        [[], [try Filter("CIExposureAdjust", ["ev": 0.1])]]
    }

    @Test(arguments: ["[\"wedding\"]", "null"])
    func `trees of keywords go with the keywords`(keywords: String) throws {
        let studio = try Studio()
        let photo = Repository.fixture("Cases/lightroom.jpg").path
        #expect(try text(photo).contains("horse"))
        for filters in try Self.edits() {
            for format in [Recipe.Format.jpeg, .png, .webp] {
                let report = try studio.render(
                    photo, filters, output: Self.output(#"{"keywords":\#(keywords)}"#, format))
                let said = try text(studio.path(report.output.name))
                #expect(!said.contains("horse"), "\(said)")
                #expect(said.contains("wedding") == (keywords != "null"))
            }
        }
    }

    @Test(arguments: ["tiff.jpg", "texts.png"], [#""New"#, "null"])
    func `creator, rights and caption go from TIFF's properties and a PNG's texts`(
        file: String, value: String
    ) throws {
        let studio = try Studio()
        let photo = Repository.fixture("Cases/" + file).path
        let before = try text(photo).split(separator: "\n").filter { line in
            ["Artist", "Copyright", "ImageDescription", "Author", "Description"].contains {
                line.contains(" \($0) ")
            }
        }
        let old = Set(before.compactMap { $0.split(separator: ": ", maxSplits: 1).last })
        #expect(!old.isEmpty)
        let rights = value == "null" ? value : #""New rights""#
        let caption = value == "null" ? value : #""New caption""#
        let creator = value == "null" ? value : #"["New creator"]"#
        for filters in try Self.edits() {
            let report = try studio.render(
                photo, filters,
                output: Self.output(
                    #"{"creator":\#(creator),"rights":\#(rights),"caption":\#(caption)}"#))
            let said = try text(studio.path(report.output.name))
            for value in old { #expect(!said.contains(": " + value), "\(value) of \(said)") }
            if value != "null", file.hasSuffix("png") {
                #expect(said.contains("New creator") && said.contains("New rights"))
            }
        }
    }

    @Test func `the code of a country goes with its name`() throws {
        let studio = try Studio()
        let photo = studio.path("in.jpg")
        try FileManager.default.copyItem(
            atPath: Repository.fixture("Cases/full.jpg").path, toPath: photo)
        _ = try Tool.run(
            "exiftool",
            [
                "-q", "-overwrite_original", "-XMP-iptcCore:CountryCode=DE",
                "-IPTC:Country-PrimaryLocationCode=DEU",
                "-IPTC:Country-PrimaryLocationName=Germany",
                "-XMP-iptcExt:LocationShown={CountryCode=DE,CountryName=Germany,City=Ulm}",
                "-EXIF:XPTitle=Old", "-EXIF:XPComment=Old", "-EXIF:XPAuthor=Old",
                "-EXIF:XPKeywords=Old", photo,
            ])
        let report = try studio.render(
            photo, [],
            output: Self.output(
                #"{"country":"France","title":"T","caption":"C","creator":["A"],"keywords":["k"]}"#)
        )
        let said = try text(studio.path(report.output.name))
        #expect(!said.contains("CountryCode") && !said.contains("LocationCode"), "\(said)")
        #expect(said.contains("LocationShownCity") && said.contains("France"))
        #expect(!said.contains(": Old"), "\(said)")
    }

    @Test(arguments: [#""New""#, "null"])
    func `a comment goes with the caption if it says the same`(caption: String) throws {
        let studio = try Studio()
        for (comment, stays) in [("Old caption", false), ("Another comment", true)] {
            let photo = studio.path(stays ? "other.jpg" : "same.jpg")
            try FileManager.default.copyItem(
                atPath: Repository.fixture("Cases/full.jpg").path, toPath: photo)
            _ = try Tool.run(
                "exiftool",
                [
                    "-q", "-overwrite_original", "-IPTC:all=", "-EXIF:ImageDescription=Old caption",
                    "-XMP-dc:Description=Old caption", "-Comment=\(comment)",
                    "-EXIF:UserComment=\(comment)", "-XMP-exif:UserComment=\(comment)", photo,
                ])
            #expect(try text(photo).contains(comment))
            for filters in try Self.edits() {
                for format in [Recipe.Format.jpeg, .webp] {
                    let report = try studio.render(
                        photo, filters, output: Self.output(#"{"caption":\#(caption)}"#, format))
                    let said = try text(studio.path(report.output.name))
                    #expect(!said.contains("Old caption"), "\(said)")
                    #expect(said.contains(comment) == stays, "\(said)")
                }
            }
        }
    }

    @Test(arguments: [#"["New"]"#, "null"])
    func `names in PLUS, of video and of Creative Commons go if they say the same`(
        creator: String
    ) throws {
        let studio = try Studio()
        for (name, stays) in [("Old creator", false), ("Somebody else", true)] {
            let photo = studio.path(stays ? "other.jpg" : "same.jpg")
            try FileManager.default.copyItem(
                atPath: Repository.fixture("Cases/clip.jpg").path, toPath: photo)
            _ = try Tool.run(
                "exiftool",
                [
                    "-q", "-overwrite_original", "-IPTC:all=", "-XMP-dc:Creator=Old creator",
                    "-XMP-dc:Rights=(c) Old creator", "-XMP-plus:ImageCreatorName=\(name)",
                    "-XMP-plus:CopyrightOwnerName=\(name)", "-XMP-iptcExt:CreatorName=\(name)",
                    "-XMP-xmpDM:Artist=\(name)", "-XMP-cc:AttributionName=\(name)", photo,
                ])
            let rights = creator == "null" ? creator : #""New""#
            for format in [Recipe.Format.jpeg, .webp] {
                let report = try studio.render(
                    photo, [],
                    output: Self.output(#"{"creator":\#(creator),"rights":\#(rights)}"#, format))
                let said = try text(studio.path(report.output.name))
                #expect(!said.contains("Old creator"), "\(said)")
                #expect(said.split(separator: "\n").count { $0.contains(name) } == (stays ? 5 : 0))
            }
        }
    }

    @Test(arguments: [Recipe.Format.jpeg, .webp])
    func `an extension that comes before its packet is read`(format: Recipe.Format) throws {
        let studio = try Studio()
        let report = try studio.render(
            Repository.fixture("Cases/parts-first.jpg").path, [],
            output: Self.output(#"{"title":"T"}"#, format))
        let said = try text(studio.path(report.output.name))
        for name in ["Credit", "City", "Title"] { #expect(said.contains(name), "\(name)") }
        #expect(report.plan.notes.allSatisfy { !$0.contains("cannot be read") })
    }

    @Test func `a clipping path stays where nothing moves, else it is named`() throws {
        let studio = try Studio()
        let photo = Repository.fixture("Cases/clip.jpg").path
        let filters = [try Filter("CIExposureAdjust", ["ev": 0.1])]
        for format in [Recipe.Format.jpeg, .tiff] {
            let kept = try studio.render(photo, filters, format: format, stem: "kept")
            #expect(try text(studio.path(kept.output.name)).contains("ClippingPathName"))
            #expect(kept.plan.leftOut == nil)
        }
        let moved = try studio.render(
            photo, [try Filter("turn", ["degrees": 90])], format: .jpeg, stem: "moved")
        #expect(moved.plan.leftOut == [.matte])
        #expect(try !text(studio.path(moved.output.name)).contains("ClippingPathName"))
        #expect(
            try studio.render(photo, filters, format: .webp).plan.leftOut?.contains(.matte) == true)
        let bare = try studio.render(
            photo, filters, output: .init(format: .jpeg, strip: .all), stem: "bare")
        #expect(try !text(studio.path(bare.output.name)).contains("ClippingPathName"))
    }

    /// A JPEG with a segment behind its start.
    private func photo(_ studio: Studio, _ code: UInt8, _ content: [UInt8]) throws -> String {
        var bytes = try Picture.file(Repository.fixture("Cases/clip.jpg").path)
        let count = content.count + 2
        bytes.insert(
            contentsOf: [0xFF, code, UInt8(count >> 8), UInt8(count & 255)] + content, at: 2)
        return try studio.write(bytes, as: "segment.jpg")
    }

    @Test func `Content Credentials go with the first change, and are named`() throws {
        let studio = try Studio()
        let box = Array("JP".utf8) + [0, 1, 0, 0, 0, 1, 0, 0, 0, 40] + Array("jumbjumdc2pa".utf8)
        let signed = try photo(studio, 0xEB, box + [UInt8](repeating: 7, count: 20))
        let copy = try studio.render(signed, [], format: .jpeg, stem: "copy")
        #expect(copy.plan.lane == .copy && copy.plan.leftOut == nil)
        for (filters, metadata) in [
            ([], #"{"title":"T"}"#), ([try Filter("CIExposureAdjust", ["ev": 0.1])], "{}"),
        ] as [([Filter], String)] {
            let report = try studio.render(
                signed, filters, output: Self.output(metadata, .jpeg), stem: "changed")
            #expect(report.plan.leftOut == [.contentCredentials], "\(report.plan)")
            #expect("\(report.plan)".contains("C2PA"))
            let bytes = try Data(contentsOf: URL(filePath: studio.path(report.output.name)))
            #expect(bytes.range(of: Data("c2pa".utf8)) == nil)
        }
    }

    @Test func `a manifest that is elsewhere is named when the reference to it goes`() throws {
        let studio = try Studio()
        let reference = "https://example.org/manifest.c2pa"
        let packet =
            "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">"
            + "<rdf:Description rdf:about=\"\" xmlns:dcterms=\"http://purl.org/dc/terms/\" "
            + "dcterms:provenance=\"\(reference)\"/></rdf:RDF></x:xmpmeta>"
        let signed = try photo(
            studio, 0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + Array(packet.utf8))
        let copy = try studio.render(signed, [], format: .jpeg, stem: "copy")
        #expect(copy.plan.lane == .copy && copy.plan.leftOut == nil)
        for (filters, metadata) in [
            ([], #"{"title":"T"}"#), ([try Filter("CIExposureAdjust", ["ev": 0.1])], "{}"),
        ] as [([Filter], String)] {
            let report = try studio.render(
                signed, filters, output: Self.output(metadata, .jpeg), stem: "changed")
            #expect(report.plan.leftOut == [.contentCredentials], "\(report.plan)")
            let bytes = try Data(contentsOf: URL(filePath: studio.path(report.output.name)))
            #expect(bytes.range(of: Data(reference.utf8)) == nil)
        }
    }

    @Test func `the picture of a camera for heat is named`() throws {
        let studio = try Studio()
        let thermal = try photo(studio, 0xE1, Array("FLIR\0".utf8) + [1, 0, 0] + [1, 2, 3])
        let report = try studio.render(
            thermal, [try Filter("CIExposureAdjust", ["ev": 0.1])], format: .jpeg)
        #expect(report.plan.leftOut == [.otherPictures])
    }
}
