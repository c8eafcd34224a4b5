import Codecs
import Edits
import Foundation
import MinilabTesting
import Testing

@testable import Rendering

@Suite("Hashes of pictures") struct PictureHashTests {
    /// Red rises to the right, green downwards, blue to the corner.
    private static func gradient(_ width: Int, _ height: Int, hasAlpha: Bool = false)
        -> HashedPicture
    {
        var codes: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let red = 255 * x / (width - 1)
                codes += [red, 255 * y / (height - 1), 255 * (x + y) / (width + height - 2)]
                    .map { UInt8($0) }
                if hasAlpha { codes.append(UInt8(red)) }
            }
        }
        return HashedPicture(width: width, height: height, bands: hasAlpha ? 4 : 3, codes: codes)
    }

    private static func hash(_ picture: HashedPicture, _ hash: RenditionHash) -> String? {
        picture.hashes([hash])?[hash.rawValue]
    }

    @Test func `gradients have the hashes of the reference implementations`() {
        let plain = Self.gradient(16, 12)
        #expect(Self.hash(plain, .thumb) == "HwgSDZyAh4eBh4d4eHh4eH9wCPd4")
        #expect(Self.hash(plain, .blur) == "L$Hx+w2%wyoyqKR.jue:f}fkfQfj")
        #expect(
            Self.hash(Self.gradient(10, 10, hasAlpha: true), .thumb)
                == "JmiKBQ43w4ewh3h3iOWIP/x0gIeIiIeIdw==")
        #expect(plain.hashes([]) == nil)
        #expect(plain.hashes(RenditionHash.allCases)?.count == 3)
    }

    @Test func `a plain grey is grey`() {
        let grey = HashedPicture(
            width: 8, height: 8, bands: 3, codes: [UInt8](repeating: 128, count: 192))
        #expect(Array(grey.thumbHash.prefix(5)) == [0x20, 0x08, 0x02, 0x07, 0x00])
        #expect(grey.blurHash.hasPrefix("L8Eyb["))
        #expect(Set(Thumb(grey.thumbHash).codes).allSatisfy { (120...136).contains($0) })
    }

    @Test func `a photo's hashes are near those of other programs`() throws {
        let path = Repository.root.appending(path: "jobs/photos/tulips.jpg").path
        let image = try StandardImage(
            PhotoFile(at: path).image(
                failOn: .warning, copySize: PixelSize(width: 512, height: 341))
        ).inPlainSRGB()
        let picture = HashedPicture(
            width: image.width, height: image.height, bands: 3, codes: try image.pixels())
        let hashes = try #require(picture.hashes(RenditionHash.allCases))
        // imagehash 4.3 of Pillow's picture of 64×43.
        let bits = try #require(UInt64(hashes["perceptual"] ?? "", radix: 16))
        #expect((bits ^ 0xac12_99e9_f6a1_1ad6).nonzeroBitCount <= 4, "\(hashes)")
        let own = Thumb(try #require(Data(base64Encoded: hashes["thumb"] ?? "").map(Array.init)))
        let other = Thumb(
            try #require(
                Data(base64Encoded: "qhgKFYaZkGpIhXcupoibuGCjwPi5").map(Array.init)))
        let squares = zip(own.codes, other.codes).map { pow(Double($0) - Double($1), 2) }
        #expect((squares.reduce(0, +) / Double(squares.count)).squareRoot() <= 4)
    }

    @Test func `narrow and tiny pictures have hashes`() {
        for (width, height) in [(1, 1), (1, 300), (300, 1), (2, 2)] {
            let picture = HashedPicture(
                width: width, height: height, bands: 4,
                codes: [UInt8](repeating: 0, count: width * height * 4))
            #expect(picture.hashes(RenditionHash.allCases)?["perceptual"]?.count == 16)
            #expect(picture.thumbHash.count <= 25)
        }
    }
}

/// The picture that a ThumbHash without alpha stands for (evanw/thumbhash, `thumbHashToRGBA`), 32 pixels wide or high.
private struct Thumb {
    let codes: [UInt8]

    init(_ hash: [UInt8]) {
        let first = Int(hash[0]) | Int(hash[1]) << 8 | Int(hash[2]) << 16
        let second = Int(hash[3]) | Int(hash[4]) << 8
        let isLandscape = second >> 15 == 1
        let across = max(3, isLandscape ? 7 : second & 7)
        let down = max(3, isLandscape ? second & 7 : 7)
        var nibble = 10
        func rest(_ across: Int, _ down: Int, _ scale: Double) -> [[Double]] {
            (0..<down).map { row in
                (0..<across).map { column in
                    guard column * down < across * (down - row), column > 0 || row > 0 else {
                        return 0
                    }
                    defer { nibble += 1 }
                    let value = hash[nibble / 2] >> (4 * UInt8(nibble % 2)) & 15
                    return (Double(value) / 7.5 - 1) * scale
                }
            }
        }
        let light = rest(across, down, Double(first >> 18 & 31) / 31)
        let yellow = rest(3, 3, Double(second >> 3 & 63) / 63 * 1.25)
        let red = rest(3, 3, Double(second >> 9 & 63) / 63 * 1.25)
        let ratio = Double(isLandscape ? 7 : second & 7) / Double(isLandscape ? second & 7 : 7)
        let width = ratio > 1 ? 32 : Int((32 * ratio).rounded())
        let height = ratio > 1 ? Int((32 / ratio).rounded()) : 32
        func value(_ mean: Double, _ rest: [[Double]], _ x: Int, _ y: Int) -> Double {
            var sum = mean
            for (row, values) in rest.enumerated() {
                for (column, value) in values.enumerated() {
                    sum +=
                        2 * value
                        * cos(.pi / Double(width) * (Double(x) + 0.5) * Double(column))
                        * cos(.pi / Double(height) * (Double(y) + 0.5) * Double(row))
                }
            }
            return sum
        }
        var codes: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let l = value(Double(first & 63) / 63, light, x, y)
                let p = value(Double(first >> 6 & 63) / 31.5 - 1, yellow, x, y)
                let q = value(Double(first >> 12 & 63) / 31.5 - 1, red, x, y)
                let b = l - 2 / 3 * p
                let r = (3 * l - b + q) / 2
                codes += [r, r - q, b].map { UInt8((min(max($0, 0), 1) * 255).rounded()) }
            }
        }
        self.codes = codes
    }
}
