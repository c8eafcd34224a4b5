import Edits
import Files
import Filters
import Foundation
import Codecs
@testable import PhotoFiles
@testable import Rendering
import RenderProtocol

/// Photos with a gain map that tests make.
enum HDRPhoto {
    /// How a file says what its map's codes mean.
    enum Language: Sendable {
        /// ISO 21496-1 and Adobe's XMP.
        case both
        case iso, hdrgm
        /// Apple's XMP, for a headroom of 2 to the power of ``Kind/max``.
        case apple
    }

    /// How a map is made.
    struct Kind: Sendable, CustomStringConvertible {
        let description: String
        /// Pixels of the photo for one of the map.
        let ratio: Int
        let channels: Int
        let min, max, gamma: Double
        var language = Language.both

        static let all = [
            Kind(description: "half the size", ratio: 2, channels: 1, min: 0, max: 3, gamma: 1),
            Kind(
                description: "a quarter of the size, by ISO", ratio: 4, channels: 1, min: 0,
                max: 1.75, gamma: 0.7, language: .iso),
            Kind(
                description: "full size, below 1 too, by hdrgm", ratio: 1, channels: 1, min: -0.5,
                max: 2, gamma: 1.5, language: .hdrgm),
            Kind(
                description: "of three channels, by ISO", ratio: 2, channels: 3, min: 0, max: 2.5,
                gamma: 1, language: .iso),
            Kind(
                description: "half the size, by Apple", ratio: 2, channels: 1, min: 0, max: 2.75,
                gamma: 1, language: .apple),
        ]

        var metadata: GainMapMetadata? {
            func fraction(_ value: Double) -> Fraction { Fraction(nearest: value) ?? Fraction(0) }
            return GainMapMetadata(
                channels: .init(
                    repeating: .init(
                        min: fraction(min), max: fraction(max), gamma: fraction(gamma)),
                    count: channels), baseHeadroom: Fraction(0), alternateHeadroom: fraction(max))
        }
    }

    static let size = PixelSize(width: 416, height: 304)

    /// Writes a photo of smooth colours with a map of smooth gains.
    static func write(_ kind: Kind, to path: String, orientation: Int? = nil) throws {
        try PlanesLaneTests.photo(
            size.width, size.height, 2, 2, at: path, orientation: orientation)
        let map = try map(kind, scratch: path + ".map")
        let file = try OpenFile(changing: path)
        try UltraHDRFile.join(map, to: file)
    }

    /// The map's JPEG.
    static func map(_ kind: Kind, scratch: String) throws -> [UInt8] {
        guard let metadata = kind.metadata else { preconditionFailure("\(kind) is no map") }
        let (width, height) = (size.width / kind.ratio, size.height / kind.ratio)
        let writer = try GainMapWriter(
            to: OpenFile(writing: scratch), width: width, height: height, channels: kind.channels,
            metadata)
        for y in 0..<height {
            try writer.write { x, channel in
                let (u, v) = (Double(x) / Double(width), Double(y) / Double(height))
                let wave = sin(7 * u + Double(channel)) * cos(5 * v + 2 * u)
                return UInt8(127.5 + 110 * wave)
            }
        }
        return try kind.language.declared(by: writer.finish(), of: kind)
    }
}

extension HDRPhoto.Language {
    /// A map that `GainMapWriter` wrote, with the segments of this language alone.
    fileprivate func declared(by map: [UInt8], of kind: HDRPhoto.Kind) -> [UInt8] {
        guard let metadata = kind.metadata else { return map }
        let (xmp, iso) = (UltraHDR.mapSegments(metadata)[0], UltraHDR.mapSegments(metadata)[1])
        let apple = XMP.packet(
            of: """
                <rdf:Description rdf:about="" xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/" \
                HDRGainMap:HDRGainMapVersion="131072" HDRGainMap:HDRGainMapHeadroom="\(exp2(kind.max))"/>
                """)
        let segments: [(code: UInt8, bytes: [UInt8])] =
            switch self {
            case .both: [xmp, iso]
            case .iso: [iso]
            case .hdrgm: [xmp]
            case .apple: [(0xE1, JPEGSegments.xmpSignature + apple)]
            }
        // Both stand behind SOI and JFIF's segment.
        let written = UltraHDR.bytes(xmp.code, xmp.bytes) + UltraHDR.bytes(iso.code, iso.bytes)
        guard let range = map.firstRange(of: written) else { preconditionFailure("no segments") }
        return map[..<range.lowerBound] + segments.flatMap { UltraHDR.bytes($0.code, $0.bytes) }
            + map[range.upperBound...]
    }
}

/// A photo as a bright screen shows it: linear light, three floats a pixel, not turned.
struct HDRPicture {
    let width, height: Int
    let light: [Float]
    /// Whether the photo ends at each pixel, or near it, and a background begins: a map of less detail than the photo has no
    /// gain for such pixels. Empty for none.
    var isEdge: [Bool] = []

    /// Reads a file with a gain map.
    init(_ path: String) throws {
        let file = try PhotoFile(at: path)
        guard let map = file.companions().map else {
            throw Failure(.internalError, "\(path) has no gain map")
        }
        let base =
            file.format == .heif
            ? try Picture.of(StandardImage(file.image(failOn: .truncated)).inPlainSRGB())
            : try Picture(path)
        let pixels = try GainMapPixels(file, map)
        (width, height) = (base.width, base.height)
        var light: [Float] = []
        light.reserveCapacity(3 * base.width * base.height)
        for y in 0..<base.height {
            let v = (Double(y) + 0.5) / Double(base.height) * Double(pixels.height) - 0.5
            for x in 0..<base.width {
                let u = (Double(x) + 0.5) / Double(base.width) * Double(pixels.width) - 0.5
                for (channel, code) in base.pixel(x, y).enumerated() {
                    let channelMetadata = map.metadata.channel(channel)
                    let gain = channelMetadata.gain(
                        ofCode: pixels.code(u, v, min(channel, pixels.channels - 1)) / 255)
                    let below = ToneCurve.sRGB.linear(Double(code) / 255)
                    light.append(
                        Float(
                            (below + channelMetadata.baseOffset.value) * exp2(gain)
                                - channelMetadata.alternateOffset.value))
                }
            }
        }
        self.light = light
    }

    private init(_ image: Image) throws {
        (width, height) = (image.width, image.height)
        light = try image.pixels().withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }

    /// The same edit of the light itself, as the plan of the photo says.
    func edited(as photo: Photo) throws -> HDRPicture {
        func run(_ light: [Float], bands: Int) throws -> Image {
            let image = try Image.fromPixels(
                light.withUnsafeBytes { Array($0) }, width: width, height: height, bands: bands,
                format: .float, interpretation: "scrgb")
            let layout = PixelProgram.Layout(sample: .linear, bands: bands)
            var runner = PassRunner(
                StandardImage(image, layout: layout, colour: .sRGB), target: layout,
                targetColour: .sRGB, background: .white, spool: .none)
            return try runner.run(photo.planned.passes)
        }
        var edited = try HDRPicture(run(light, bands: 3))
        let white = [Float](repeating: 1, count: 4 * width * height)
        let covered = try run(white, bands: 4).pixels().withUnsafeBytes {
            Array($0.bindMemory(to: Float.self))
        }
        edited.markEdges { covered[4 * $0 + 3] }
        return edited
    }

    /// As far as the lookup of a map of a quarter of the size reaches.
    private static let edgeReach = 4

    private mutating func markEdges(_ alpha: (Int) -> Float) {
        isEdge = .init(repeating: false, count: width * height)
        for y in 0..<height {
            for x in 0..<width where (0.001...0.999).contains(alpha(y * width + x)) {
                for row in max(0, y - Self.edgeReach)...min(height - 1, y + Self.edgeReach) {
                    for column in max(0, x - Self.edgeReach)...min(width - 1, x + Self.edgeReach) {
                        isEdge[row * width + column] = true
                    }
                }
            }
        }
    }

    /// How far two pictures are from each other, in stops of luminance: the mean, and what 99 % keep.
    func difference(from other: HDRPicture) throws -> (mean: Double, p99: Double) {
        guard width == other.width, height == other.height else {
            throw Failure(
                .internalError, "\(width)×\(height) against \(other.width)×\(other.height)")
        }
        func stops(_ light: [Float], _ pixel: Int) -> Double {
            let weights = [0.2126, 0.7152, 0.0722]
            let luminance = (0..<3).reduce(0.0) { $0 + weights[$1] * Double(light[3 * pixel + $1]) }
            return log2(Swift.max(luminance, 0) + 1.0 / 64)
        }
        let differences = (0..<width * height)
            .filter { other.isEdge.isEmpty || !other.isEdge[$0] }
            .map { abs(stops(light, $0) - stops(other.light, $0)) }.sorted()
        return (
            differences.reduce(0, +) / Double(differences.count),
            differences[differences.count * 99 / 100]
        )
    }
}

extension GainMapPixels {
    /// The code between pixels, as screens look it up.
    fileprivate func code(_ x: Double, _ y: Double, _ channel: Int) -> Double {
        func at(_ column: Int, _ row: Int) -> Double {
            let (column, row) = (min(max(column, 0), width - 1), min(max(row, 0), height - 1))
            return Double(codes[(row * width + column) * channels + channel])
        }
        let (left, top) = (x.rounded(.down), y.rounded(.down))
        let (u, v) = (x - left, y - top)
        let (column, row) = (Int(left), Int(top))
        return (at(column, row) * (1 - u) + at(column + 1, row) * u) * (1 - v)
            + (at(column, row + 1) * (1 - u) + at(column + 1, row + 1) * u) * v
    }
}
