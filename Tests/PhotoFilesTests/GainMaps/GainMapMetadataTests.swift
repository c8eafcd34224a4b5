import Glibc
import MinilabTesting
import Testing

@testable import PhotoFiles

@Suite("Metadata of gain maps") struct GainMapMetadataTests {
    private typealias Channel = GainMapMetadata.Channel

    private static func drawn(_ random: inout some RandomNumberGenerator) -> GainMapMetadata? {
        func fraction(_ range: ClosedRange<Double>) -> Fraction {
            Fraction(nearest: Double.random(in: range, using: &random)) ?? Fraction(0)
        }
        let channels = (0..<(Bool.random(using: &random) ? 1 : 3)).map { _ in
            Channel(
                min: fraction(-2...0), max: fraction(0...6), gamma: fraction(0.3...3),
                baseOffset: fraction(0...0.1), alternateOffset: fraction(0...0.1))
        }
        return GainMapMetadata(
            channels: channels, baseHeadroom: Fraction(0), alternateHeadroom: fraction(1...6))
    }

    @Test func `ISO's bytes and Adobe's XMP say the same, to the last digit`() throws {
        var random = SeededGenerator(seed: 17)
        for _ in 0..<200 {
            let metadata = try #require(Self.drawn(&random))
            #expect(GainMapMetadata(iso: metadata.iso) == metadata)
            #expect(GainMapMetadata(tmap: [0] + metadata.iso) == metadata)
            #expect(GainMapMetadata(hdrgm: metadata.hdrgm) == metadata)
            #expect(metadata.iso.count == (metadata.channels.count == 1 ? 61 : 141))
        }
    }

    @Test func `a code and its gain lead to each other`() throws {
        var random = SeededGenerator(seed: 18)
        for _ in 0..<50 {
            let channel = try #require(Self.drawn(&random)).channel(2)
            for code in stride(from: 0.0, through: 1, by: 0.1) {
                #expect(abs(channel.code(ofGain: channel.gain(ofCode: code)) - code) < 1e-9)
            }
            #expect(abs(channel.gain(ofCode: channel.neutralCode)) < 1e-9)
        }
    }

    @Test func `only a map that reaches the headroom has Apple's name in a HEIC`() throws {
        // As iOS 18 writes it.
        let (most, gamma) = (1.478, 0.732)
        for (headroom, isApple) in [(most, true), (4, false), (1, false)] {
            let channel = try Channel(
                min: Fraction(0), max: #require(Fraction(nearest: most)),
                gamma: #require(Fraction(nearest: gamma)))
            let alternate = try #require(Fraction(nearest: headroom))
            let metadata = try #require(
                GainMapMetadata(
                    channels: [channel], baseHeadroom: Fraction(0), alternateHeadroom: alternate))
            let packet = String(decoding: HEIFGainMap.packet(of: metadata), as: UTF8.self)
            #expect(HEIFGainMap.name(of: metadata).contains("apple") == isApple)
            #expect(packet.contains("HDRGainMapHeadroom") == isApple)
        }
    }

    @Test func `what makes no sense is refused`() throws {
        let one = Fraction(1)
        let channel = Channel(min: Fraction(0), max: Fraction(2))
        func made(_ channels: [Channel], _ low: Int32 = 0, _ high: Int32 = 2) -> GainMapMetadata? {
            GainMapMetadata(
                channels: channels, baseHeadroom: Fraction(low), alternateHeadroom: Fraction(high))
        }
        #expect(made([channel]) != nil)
        #expect(made([channel, channel]) == nil)
        #expect(made([]) == nil)
        #expect(made([channel], 2, 2) == nil, "a map that adds nothing")
        #expect(made([channel], 3, 0) == nil, "a base that is HDR")
        #expect(made([channel], 0, 33) == nil)
        #expect(made([Channel(min: one, max: Fraction(0))]) == nil)
        #expect(made([Channel(min: Fraction(0), max: Fraction(40))]) == nil)
        #expect(made([Channel(min: Fraction(0), max: one, gamma: Fraction(0))]) == nil)
        #expect(made([Channel(min: Fraction(0), max: one, gamma: Fraction(-1))]) == nil)
        #expect(made([Channel(min: Fraction(0), max: one, baseOffset: Fraction(2))]) == nil)
        #expect(Fraction(1, over: 0) == nil)
        #expect(Fraction(nearest: .nan) == nil)
        #expect(Fraction(text: "1e300") == nil)
        #expect(Fraction(text: String(repeating: "1", count: 41)) == nil)
    }

    @Test func `bytes that are cut off or changed are metadata or none`() throws {
        var random = SeededGenerator(seed: 19)
        let whole = try #require(Self.drawn(&random)).iso
        for count in 0..<whole.count { #expect(GainMapMetadata(iso: whole.prefix(count)) == nil) }
        for _ in 0..<5_000 {
            var bytes = whole
            for _ in 0..<3 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            guard let metadata = GainMapMetadata(iso: bytes) else { continue }
            #expect(metadata.channels.allSatisfy { $0.gain(ofCode: 1).isFinite })
        }
    }

    @Test func `Adobe's defaults count where its XMP says nothing`() throws {
        let packet = """
            <rdf:Description xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0" hdrgm:GainMapMax="2.5"
             hdrgm:HDRCapacityMax='3'/>
            """
        let metadata = try #require(GainMapMetadata(hdrgm: Array(packet.utf8)))
        #expect(
            metadata.channels == [
                Channel(min: Fraction(0), max: try #require(Fraction(5, over: 2)))
            ])
        #expect(metadata.alternateHeadroom == Fraction(3))
        let hdr = packet.replacing(
            "hdrgm:Version", with: "hdrgm:BaseRenditionIsHDR='True' hdrgm:Version")
        #expect(GainMapMetadata(hdrgm: Array(hdr.utf8)) == nil)
    }

    @Test
    func `Apple's formula gives the headroom of a photo of iOS 18, and its law becomes ISO's`()
        throws
    {
        // Tags 0x21 and 0x30 of such a photo, and 2^1.7498.
        let map = try #require(AppleGainMap(tag33: 1.01, tag48: 1.8259))
        #expect(abs(map.headroom - 3.363) < 0.001)
        let metadata = try #require(map.metadata)
        let codes = map.isoCodes
        #expect(codes[0] == 0 && codes[255] == 255)
        for code in [30, 120, 200] {
            let light =
                code < 21
                ? Double(code) / 255 / 4.5 : pow((Double(code) / 255 + 0.099) / 1.099, 1 / 0.45)
            let gain = metadata.channel(0).gain(ofCode: Double(codes[code]) / 255)
            #expect(abs(gain - log2(1 + (map.headroom - 1) * light)) < 0.01)
        }
        #expect(AppleGainMap(tag33: .nan, tag48: 0) == nil)
        #expect(AppleGainMap(tag33: 0, tag48: 1e9) == nil)
    }
}
