import Codecs
import Edits
import Foundation
import MinilabTesting
import PhotoFiles
import RenderProtocol
import Testing

@testable import Rendering

/// Profiles of colours, which stay where all else goes, and texts that are a place together.
extension StrippedPlaceTests {
    /// A profile with tags of these contents, and bytes behind them.
    private static func profile(_ tags: [[UInt8]], behind: [UInt8] = []) -> [UInt8] {
        func big(_ number: Int) -> [UInt8] { Self.little(number, 4).reversed() }
        var (table, contents) = (big(tags.count), [UInt8]())
        let start = 128 + 4 + 12 * tags.count
        for tag in tags {
            table += Array("tag ".utf8) + big(start + contents.count) + big(tag.count)
            contents += tag
        }
        let header = [UInt8](repeating: 7, count: 100) + [UInt8](repeating: 0, count: 28)
        return header + table + contents + behind
    }

    @Test func `have none in texts of a profile, which stays as long as it is`() {
        let head: [UInt8] = [0, 0, 0, 0]
        func tag(_ type: String, _ content: [UInt8]) -> [UInt8] {
            Array(type.utf8) + head + content
        }
        func described(_ text: String) -> [UInt8] {
            let count: [UInt8] = [0, 0, 0, UInt8(text.utf8.count)]
            return tag("desc", count + Array(text.utf8))
        }
        func translated(_ text: String) -> [UInt8] {
            let wide: [UInt8] = text.utf8.flatMap { [0, $0] }
            let records: [UInt8] = [0, 0, 0, 1, 0, 0, 0, 12]
            let place: [UInt8] = [0, 0, 0, UInt8(wide.count), 0, 0, 0, 28]
            return tag("mluc", records + Array("enUS".utf8) + place + wide)
        }
        func plain(_ text: String) -> [UInt8] { tag("text", Array(text.utf8)) }
        func unknown(_ text: String) -> [UInt8] { tag("spot", Array(text.utf8)) }
        let curve = tag("curv", [0, 0, 0, 1, 2, 51])
        for made in [described, translated, plain, unknown] {
            let kept = Self.profile([curve, made("Display P3")])
            #expect(PlacelessProfile.profile(kept) == kept)
            let told = Self.profile([curve, made("at " + Self.decimals), plain("CC0")])
            let result = PlacelessProfile.profile(told)
            #expect(!Self.tells(result) && result.count == told.count)
            #expect(Data(result).range(of: Data(curve)) != nil)
            #expect(Data(result).range(of: Data("CC0".utf8)) != nil)
            // The digest of what it was is none of it any more.
            #expect(result[84..<100].allSatisfy { $0 == 0 })
        }
        let behind = PlacelessProfile.profile(
            Self.profile([curve], behind: Array(Self.decimals.utf8)))
        #expect(!Self.tells(behind) && Data(behind).range(of: Data(curve)) != nil)
        for damaged in [[], [1, 2, 3], [UInt8](repeating: 0xFF, count: 200)] as [[UInt8]] {
            #expect(PlacelessProfile.profile(damaged) == damaged)
        }
    }

    @Test func `have none in a profile whose tags overlap, after a search of what it has`() {
        func big(_ number: Int) -> [UInt8] { Self.little(number, 4).reversed() }
        let count = 900
        let start = 128 + 4 + 12 * count
        let text = Array("text\0\0\0\0".utf8) + [UInt8](repeating: 0x31, count: 400_000)
        var profile = [UInt8](repeating: 7, count: 100) + [UInt8](repeating: 0, count: 28)
        profile += big(count)
        // All tags have all of the text but its first bytes, and the last one has a place behind it.
        for number in 0..<count {
            let offset = number < count - 1 ? 4 * number : 0
            profile += Array("tag ".utf8) + big(start + offset) + big(text.count - offset + 40)
        }
        let place = Array((" " + Self.decimals).utf8)
        profile += text + place + [UInt8](repeating: 0, count: 40 - place.count)
        var result: [UInt8] = []
        let time = ContinuousClock().measure { result = PlacelessProfile.profile(profile) }
        #expect(!Self.tells(result) && result.count == profile.count)
        // Each tag by itself took some minutes.
        #expect(time < .seconds(60))
    }

    @Test func `have none in two comments of a JPEG together`() {
        let facts = PictureFacts(size: PixelSize(width: 8, height: 8))
        let comments = ["10.1234567", "horse", "20.7654321"].map {
            JPEGMarker(code: 0xFE, bytes: Array($0.utf8))
        }
        #expect(comments.carried(to: facts, strip: .gps) == [comments[1]])
        #expect(comments.carried(to: facts, strip: .none) == comments)
    }

    @Test func `have none in two texts of a PNG together`() throws {
        let studio = try Studio()
        let edge = try Data(contentsOf: URL(filePath: Repository.fixture("Cases/edge.png").path))
        let photo = try studio.write(Array(edge), as: "in.png")
        let texts = [
            "-PNG:Title=10.1234567", "-PNG:Author=Ada", "-PNG:Comment=20.7654321",
        ]
        _ = try Tool.run("exiftool", ["-q", "-overwrite_original"] + texts + [photo])
        for filters in [[], [try Filter("CIExposureAdjust", ["ev": 0.1])]] {
            let recipe = try Recipe(filters: filters, output: .init(format: .png, strip: .gps))
            for path in try studio.render(photo, recipe, [.full], stem: "out") {
                let tags = try Exiftool.tags(of: path, "-G1")
                #expect("\(tags)".contains("Ada"), "\(tags)")
                #expect(!"\(tags)".contains("10.12") && !"\(tags)".contains("20.76"), "\(tags)")
            }
        }
    }

    @Test func `have none in the profile of a JPEG, whole or damaged`() throws {
        let text = Array("text\0\0\0\0".utf8) + Array(Self.decimals.utf8)
        let profile = Self.profile([text])
        let facts = PictureFacts(size: PixelSize(width: 8, height: 8))
        let signature = Array("ICC_PROFILE\0".utf8)
        let half = profile.count / 2
        let whole = [
            JPEGMarker(code: 0xE2, bytes: signature + [1, 2] + profile[..<half]),
            JPEGMarker(code: 0xE2, bytes: signature + [2, 2] + profile[half...]),
        ]
        let damaged = [JPEGMarker(code: 0xE2, bytes: signature + [1, 2] + profile)]
        for strip in [Recipe.Strip.gps, .all] {
            let kept = whole.carried(to: facts, strip: strip)
            #expect(kept.profile == .whole(PlacelessProfile.profile(profile)))
            #expect(!kept.contains { Self.tells($0.bytes) })
            #expect(damaged.carried(to: facts, strip: strip).isEmpty)
        }
        #expect(whole.carried(to: facts, strip: .none).profile == .whole(profile))
    }
}
