import Edits
@testable import PhotoFiles
import Foundation
import Glibc
import MinilabTesting
import Testing

/// JPEG files that hold nothing but their headers.
enum HeaderJPEG {
    static func segment(_ code: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        let length = bytes.count + 2
        return [0xFF, code, UInt8(length >> 8), UInt8(length & 255)] + bytes
    }

    static func picture(_ segments: [UInt8], width: UInt8 = 8, components: UInt8 = 1) -> [UInt8] {
        [0xFF, 0xD8] + segments
            + segment(
                0xC0,
                [8, 0, 8, 0, width, components] + (0..<components).flatMap { [$0, 0x11, 0] })
            + [0xFF, 0xDA, 0, 2, 0xFF, 0xD9]
    }

    static var metadata: GainMapMetadata? {
        GainMapMetadata(
            channels: [.init(min: Fraction(0), max: Fraction(2))], baseHeadroom: Fraction(0),
            alternateHeadroom: Fraction(2))
    }

    static func ultraHDR(_ map: [UInt8], claims mapBytes: Int? = nil, withIndex: Bool = true)
        -> [UInt8]
    {
        let packet = Attachments(mapBytes: mapBytes ?? map.count).packet(nil)
        func photo(_ length: Int) -> [UInt8] {
            let xmp = segment(0xE1, JPEGSegments.xmpSignature + packet)
            let index = MultiPicture.segment(
                at: 2 + xmp.count + 4, photo: length, map: mapBytes ?? map.count)
            return picture(
                xmp + (withIndex ? segment(0xE2, index) : [])
                    + segment(0xE2, UltraHDR.photoSegment), components: 3)
        }
        return photo(photo(0).count) + map
    }

    static func companions(_ bytes: [UInt8]) -> JPEGCompanions? {
        var window = FileWindow(length: bytes.count) { offset, count in
            Array(bytes.dropFirst(offset).prefix(count))
        }
        return JPEGCompanions(&window)
    }
}

@Suite("What lies beside the photo of a HEIC") struct HEIFCompanionsTests {
    private static let configuration =
        [1, 3, 0x70] + [UInt8](repeating: 0, count: 13) + [0xFD, 0xF8, 0xF8, 0, 0, 15, 0]

    /// A photo of 4000 × 3000 with a map, and with more items that say they are tone maps.
    ///
    /// - Parameter aperture: the content of `clap` of the photo alone: width, height, and where the middle lies.
    private func file(
        _ map: (width: Int, height: Int) = (1_000, 750), cut aperture: [Int] = [], toneMaps: Int = 0
    ) throws -> [UInt8] {
        var file = HEIFFile(brands: ["heic", "mif1", "tmap"])
        func picture(_ width: Int, _ height: Int) -> HEIFCodedPicture {
            HEIFCodedPicture(
                width: width, height: height, tileWidth: width, tileHeight: height,
                configuration: Self.configuration, bits: [8, 8, 8])
        }
        let clap =
            aperture.isEmpty
            ? []
            : [
                HEIFProperty.other(
                    type: "clap", content: aperture.flatMap { Bytes.big($0) + Bytes.big(1) }[...])
            ]
        let photo = file.add(picture(4_000, 3_000), properties: clap).item
        file.primary = photo
        let added = file.add(picture(map.width, map.height), isHidden: true).item
        let metadata = try #require(HeaderJPEG.metadata)
        for _ in 0..<toneMaps {
            let item = file.add(
                HEIFFile.Item(type: "tmap", properties: [], content: .itemData([])))
            file.refer("dimg", from: item, to: [added, photo])
        }
        let item = file.add(
            HEIFFile.Item(type: "tmap", properties: [], content: .itemData(metadata.tmap)))
        file.refer("dimg", from: item, to: [photo, added])
        let start = file.headLength
        let mediaRanges = [photo: start..<start + 9, added: start + 9..<start + 18]
        return try file.head(mediaRanges: mediaRanges, length: start + 18)
            + [UInt8](repeating: 1, count: 18)
    }

    private func map(_ bytes: [UInt8]) throws -> (GainMap, HEIFStill) {
        var window = FileWindow(length: bytes.count) { offset, count in
            Array(bytes.dropFirst(offset).prefix(count))
        }
        let meta = try #require(HEIFMeta(of: &window))
        let found = HEIFCompanions(meta, in: &window)
        let map = try #require(found.map, "\(found.damage ?? "none")")
        guard case .item(let item) = map.location else { throw HEIFProblem.damaged("no item") }
        let photo = try HEIFStill(meta, in: &window)
        return (map, try HEIFStill(gainMap: item, of: photo, meta, in: &window))
    }

    @Test func `a map is cut where the photo alone is, in proportion`() throws {
        #expect(try map(file()).0.width == 1_000)
        // 2,000 × 1,500, 200 to the right of the middle and 100 above it.
        let (map, still) = try map(file(cut: [2_000, 1_500, 200, -100]))
        #expect((map.width, map.height) == (500, 375))
        #expect((still.placement.left, still.placement.top) == (300, 163))
        // Square, as the map is: it was made for what is shown.
        let own = try self.map(file((750, 750), cut: [3_000, 3_000, 0, 0])).0
        #expect((own.width, own.height) == (750, 750))
    }

    /// The processor time of some work on this thread: it does not depend on what else the machine does.
    private func processorTime(_ work: () throws -> Void) rethrows -> Duration {
        func now() -> Duration {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
        let start = now()
        try work()
        return now() - start
    }

    @Test func `four times as many tone maps take four times as long to search`() throws {
        func time(_ count: Int) throws -> Duration {
            let bytes = try file(toneMaps: count)
            return try processorTime { _ = try map(bytes) }
        }
        let (few, many) = (try time(4_000), try time(16_000))
        // Sixteen times as long if each of them searched all references.
        #expect(many < few * 8, "\(few), \(many)")
    }
}

@Suite("What lies beside a photo") struct CompanionsTests {
    private func map() throws -> [UInt8] {
        let metadata = try #require(HeaderJPEG.metadata)
        return HeaderJPEG.picture(
            UltraHDR.mapSegments(metadata).flatMap { HeaderJPEG.segment($0.code, $0.bytes) })
    }

    @Test(arguments: [true, false])
    func `a map is found by what we write, with and without the index`(_ withIndex: Bool) throws {
        let map = try map()
        let file = HeaderJPEG.ultraHDR(map, withIndex: withIndex)
        let found = try #require(HeaderJPEG.companions(file))
        #expect(found.map?.jpeg?.lowerBound == file.count - map.count)
        #expect(found.map?.jpeg?.count == map.count)
        #expect(found.map?.metadata == HeaderJPEG.metadata)
        #expect(found.map?.components == 1)
        #expect(!found.hasFalseClaims && found.damage == nil)
    }

    @Test func `a map that is taken over has its pixels, and nothing beside and behind them`()
        throws
    {
        let metadata = try #require(HeaderJPEG.metadata)
        let place = Array("48.8583701, 2.2944813".utf8)
        let density: [UInt8] = [1, 2, 0, 0, 1, 0, 1]
        let profile = HeaderJPEG.segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1, 9])
        let colours: [UInt8] = Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 1]
        func map(thumbnail: [UInt8], own: [UInt8], further: [UInt8], end: [UInt8]) -> [UInt8] {
            let head = HeaderJPEG.segment(0xE0, Array("JFIF\0".utf8) + density + thumbnail)
            let scan: [UInt8] = [0xFF, 0xDA, 0, 3, 1, 7, 0xFF, 0, 8, 0xFF, 0xD0, 9]
            let adobe = HeaderJPEG.segment(0xEE, colours + further)
            let (first, last): ([UInt8], [UInt8]) = ([0xFF, 0xD8], [0xFF, 0xD9])
            return [first, head, own, profile, adobe, scan, own, scan, last, end].flatMap { $0 }
        }
        let own = [0xE0, 0xE1, 0xE5, 0xEE, 0xFE].flatMap { HeaderJPEG.segment($0, place) }
        let full = map(thumbnail: [1, 1, 9, 9, 9], own: own, further: place, end: place)
        let plain = map(thumbnail: [0, 0], own: [], further: [], end: [])
        let result = try #require(UltraHDR.rewrapped(full, as: metadata))
        let segments = UltraHDR.mapSegments(metadata).flatMap {
            HeaderJPEG.segment($0.code, $0.bytes)
        }
        // Its own metadata stand behind JFIF's.
        let head = 2 + 4 + 14
        #expect(result == Array(plain[..<head]) + segments + plain[head...])
    }

    @Test func `a map that is not there is a false claim and no map`() throws {
        let map = try map()
        let file = Array(HeaderJPEG.ultraHDR(map).dropLast(map.count))
        let found = try #require(HeaderJPEG.companions(file))
        #expect(found.map == nil && found.hasFalseClaims && found.damage != nil)
        let beyond = try #require(HeaderJPEG.companions(HeaderJPEG.ultraHDR(map, claims: 1 << 30)))
        #expect(beyond.map == nil && beyond.hasFalseClaims)
    }

    @Test func `Adobe's XMP alone is enough, and Apple's`() throws {
        let metadata = try #require(HeaderJPEG.metadata)
        let xmp = HeaderJPEG.segment(0xE1, JPEGSegments.xmpSignature + metadata.hdrgm)
        let adobe = HeaderJPEG.ultraHDR(HeaderJPEG.picture(xmp))
        #expect(HeaderJPEG.companions(adobe)?.map?.metadata == metadata)
        let apple = XMP.packet(
            of:
                "<rdf:Description HDRGainMap:HDRGainMapVersion='131072' HDRGainMap:HDRGainMapHeadroom='4'/>"
        )
        let file = HeaderJPEG.ultraHDR(
            HeaderJPEG.picture(HeaderJPEG.segment(0xE1, JPEGSegments.xmpSignature + apple)))
        let found = try #require(HeaderJPEG.companions(file)?.map)
        #expect(found.metadata.alternateHeadroom == Fraction(2))
        #expect(found.codes?.count == 256)
    }

    @Test func `a claim of a video without one is false, and one with it is a companion`() throws {
        func photo(_ offset: Int) -> [UInt8] {
            HeaderJPEG.picture(
                HeaderJPEG.segment(
                    0xE1,
                    JPEGSegments.xmpSignature
                        + XMP.packet(
                            of:
                                "<rdf:Description GCamera:MicroVideo='1' GCamera:MicroVideoOffset='\(offset)'/>"
                        )))
        }
        let video = [UInt8]([0, 0, 0, 12] + Array("ftypmp42".utf8))
        #expect(try #require(HeaderJPEG.companions(photo(12) + video)).others == [.motionVideo])
        #expect(try #require(HeaderJPEG.companions(photo(12))).hasFalseClaims)
    }

    @Test(arguments: SyntheticMotionPhoto.Form.allCases, [false, true])
    func `a video is found where its photo says, and harmed ones are in the file or nowhere`(
        form: SyntheticMotionPhoto.Form, isSamsung: Bool
    ) throws {
        let movie =
            Bytes.box("ftyp", Bytes.text("isom")) + Bytes.box("moov", [1, 2, 3])
            + Bytes.box("mdat", [4, 5, 6, 7])
        var photo = SyntheticMotionPhoto(movie, form: form)
        photo.trailer = [0, 0, 0, 1]
        let jpeg = HeaderJPEG.picture([], components: 3)
        let whole = isSamsung ? photo.samsungFile(of: jpeg) : photo.file(of: jpeg)
        let found = try #require(HeaderJPEG.companions(whole))
        #expect(found.video.map { Array(whole[$0.byteRange]) } == movie)
        #expect(found.others == [.motionVideo] && found.videoDamage == nil)
        #expect(found.video?.claims.stillMicroseconds == (isSamsung ? -1 : 200_000))
        var random = SeededGenerator(seed: 4)
        for _ in 0..<500 {
            let bytes = harmed(whole, &random)
            guard let range = HeaderJPEG.companions(bytes)?.video?.byteRange else { continue }
            #expect(range.lowerBound > 0 && range.upperBound <= bytes.count && range.count >= 8)
        }
    }

    /// A file with one to four wrong bytes, and with or without its end.
    private func harmed(_ whole: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = whole
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
                in: 0...255, using: &random)
        }
        if Bool.random(using: &random) {
            bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
        }
        return bytes
    }

    @Test func `harmed files are found something in, or nothing`() throws {
        var random = SeededGenerator(seed: 3)
        let whole = HeaderJPEG.ultraHDR(try map())
        for _ in 0..<5_000 {
            let bytes = harmed(whole, &random)
            guard let map = HeaderJPEG.companions(bytes)?.map else { continue }
            let range = try #require(map.jpeg)
            #expect(range.lowerBound > 0 && range.upperBound <= bytes.count)
        }
    }
}

@Suite("Gain maps of real files") struct GainMapCorpusTests {
    private static let corpus = ProcessInfo.processInfo.environment["MINILAB_CORPUS"]

    private func bytes(_ path: String) throws -> [UInt8] {
        let folder = try #require(Self.corpus)
        return [UInt8](try Data(contentsOf: URL(filePath: folder + "/" + path)))
    }

    @Test(.enabled(if: corpus != nil, "needs MINILAB_CORPUS"))
    func `of Ultra HDR, Apple and iOS 18 are found`() throws {
        let jpeg = try bytes("photos/jpeg/ultra-hdr.jpg")
        let map = try #require(HeaderJPEG.companions(jpeg)?.map)
        #expect(map.jpeg == 1_158_931..<1_158_931 + 31_738)
        #expect(map.width == 960 && map.height == 540 && map.components == 1)
        #expect(abs(map.metadata.channel(0).max.value - 6.64386) < 1e-9)
        let heic = try bytes("photos/aae/IMG_3582/IMG_3582.HEIC")
        var window = FileWindow(length: heic.count) { offset, count in
            Array(heic.dropFirst(offset).prefix(count))
        }
        let meta = try #require(HEIFMeta(of: &window))
        let found = HEIFCompanions(meta, in: &window)
        let apple = try #require(found.map)
        #expect(found.damage == nil && found.others == [.depth])
        // Upright: stored as 2856 × 2142.
        #expect(apple.width == 2_142 && apple.height == 2_856 && apple.components == 1)
        // Of `tmap`, and what the MakerNote comes to.
        #expect(abs(apple.metadata.alternateHeadroom.value - 1.478) < 1e-3 && apple.codes == nil)
        #expect(HEIFGainMap.name(of: apple.metadata).contains("apple"))
    }
}
