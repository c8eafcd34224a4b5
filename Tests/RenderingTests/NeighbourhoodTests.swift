import Edits
import Foundation
import Testing
import Codecs

@testable import Filters
@testable import Rendering

@Suite("Neighbourhood filters") struct NeighbourhoodTests {
    private let width = 37
    private let height = 29
    private var codes: [UInt8] { TestPicture.codes(width: width, height: height) }
    private var plane: Plane { Plane(width: width, height: height, codes: codes) }

    private func run(_ filter: any NeighbourhoodFilter) throws -> [UInt8] {
        try Image.of(codes, width, height).filtered(filter).pixels()
    }

    @Test(arguments: [1, 2, 3.9, 7, 15, 499.0]) func `a box is the mean of the largest odd square`(
        _ radius: Double
    ) throws {
        let side = (Int(radius) - 1) / 2
        let plane = plane
        let mean = plane.map { x, y, band in
            var sum = 0.0
            for row in -side...side {
                for column in -side...side { sum += plane[x + column, y + row, band] }
            }
            return sum / Double((2 * side + 1) * (2 * side + 1))
        }
        let box = CIBoxBlur(try Filter("CIBoxBlur", ["radius": .number(min(radius, 80))]))
        guard radius <= 80 else {
            // Far beyond the photo it is the mean of nearly its corners alone: all that is asked is order.
            let wide = try run(CIBoxBlur(try Filter("CIBoxBlur", ["radius": .number(radius)])))
            #expect(Set(wide).count > 1)
            return
        }
        #expect(mean.greatestDifference(from: try run(box)) <= 1)
    }

    @Test(arguments: [0.0, 1, 3.5, 9]) func `a disc is the mean of the pixels in it`(
        _ radius: Double
    ) throws {
        let plane = plane
        let reach = Int(radius.rounded(.up)) + 1
        // The share of each pixel that lies in the disc, by 16 × 16 points.
        var shares: [[Double]] = []
        for y in -reach...reach {
            shares.append(
                (-reach...reach).map { x in
                    var inside = 0
                    for i in 0..<256 {
                        let px = Double(x) - 0.5 + (Double(i % 16) + 0.5) / 16
                        let py = Double(y) - 0.5 + (Double(i / 16) + 0.5) / 16
                        if px * px + py * py <= radius * radius { inside += 1 }
                    }
                    return Double(inside) / 256
                })
        }
        if radius == 0 { shares[reach][reach] = 1 }
        let area = shares.flatMap { $0 }.reduce(0, +)
        let exact = plane.map { x, y, band in
            var sum = 0.0
            for row in -reach...reach {
                for column in -reach...reach where shares[row + reach][column + reach] > 0 {
                    sum += shares[row + reach][column + reach] * plane[x + column, y + row, band]
                }
            }
            return sum / area
        }
        let disc = CIDiscBlur(try Filter("CIDiscBlur", ["radius": .number(radius)]))
        #expect(exact.greatestDifference(from: try run(disc)) <= 1)
    }

    @Test func `a large disc is round, even and as wide as it should be`() throws {
        let (side, radius) = (201, 40.0)
        var codes = [UInt8](repeating: 0, count: side * side * 3)
        // A light of 9 × 9 pixels, so that the disc is bright enough to be read from codes.
        for y in 96...104 {
            for x in 96...104 { for band in 0..<3 { codes[(y * side + x) * 3 + band] = 255 } }
        }
        let disc = CIDiscBlur(try Filter("CIDiscBlur", ["radius": .number(radius)]))
        let bytes = try Image.of(codes, side, side).filtered(disc).pixels()
        func light(_ x: Int, _ y: Int) -> Double {
            Reference.decode(Double(bytes[(y * side + x) * 3]))
        }
        let even = 81 / (Double.pi * radius * radius)
        for (x, y) in [(100, 100), (120, 100), (100, 78), (116, 116)] {
            #expect(abs(light(x, y) / even - 1) < 0.05)
        }
        #expect(light(100, 152) < 0.05 * even && light(152, 100) < 0.05 * even)
        #expect(abs(light(140, 100) / even - 0.5) < 0.1)
    }

    @Test func `the median is the fifth of nine`() throws {
        let plane = plane
        let median = plane.map { x, y, band in
            (0..<9).map { plane[x - 1 + $0 % 3, y - 1 + $0 / 3, band] }.sorted()[4]
        }
        #expect(median.codes == (try run(CIMedianFilter())).map { Int($0) })
    }

    @Test(arguments: [1.69, 6]) func `sharpening adds what blurring takes away`(_ radius: Double)
        throws
    {
        let plane = plane
        let soft = plane.blurred(radius)
        let unsharp = CIUnsharpMask(
            try Filter("CIUnsharpMask", ["radius": .number(radius), "intensity": 0.8]))
        let all = plane.map { plane[$0, $1, $2] + 0.8 * (plane[$0, $1, $2] - soft[$0, $1, $2]) }
        #expect(all.greatestDifference(from: try run(unsharp)) <= 1)

        func y(_ plane: Plane, _ x: Int, _ y: Int) -> Double {
            0.2125 * plane[x, y, 0] + 0.7154 * plane[x, y, 1] + 0.0721 * plane[x, y, 2]
        }
        let luminance = CISharpenLuminance(
            try Filter("CISharpenLuminance", ["radius": .number(radius), "sharpness": 0.8]))
        let grey = plane.map { plane[$0, $1, $2] + 0.8 * (y(plane, $0, $1) - y(soft, $0, $1)) }
        #expect(grey.greatestDifference(from: try run(luminance)) <= 1)
    }

    @Test func `bloom brightens by the blur where that is brighter and gloom darkens`() throws {
        let plane = plane
        let soft = plane.blurred(4)
        func mixed(_ choose: (Double, Double) -> Double) -> Plane {
            plane.map {
                let x = plane[$0, $1, $2]
                return x + 0.7 * (choose(x, soft[$0, $1, $2]) - x)
            }
        }
        for (name, brightens) in [("CIBloom", true), ("CIGloom", false)] {
            let glow = Glow(
                try Filter(name, ["radius": 4, "intensity": 0.7]), brightens: brightens)
            let exact = brightens ? mixed(max) : mixed(min)
            #expect(exact.greatestDifference(from: try run(glow)) <= 1)
        }
    }

    @Test(arguments: [
        ("CIConvolution3X3", 3, 3), ("CIConvolution5X5", 5, 5),
        ("CIConvolution9Horizontal", 9, 1), ("CIConvolution9Vertical", 1, 9),
    ])
    func `a convolution sums its weights from the lower left and adds the bias`(
        _ name: String, _ columns: Int, _ rows: Int
    ) throws {
        let weights = (0..<columns * rows).map { Double($0 % 7) / Double(3 * columns * rows) }
        let filter = try Filter(name, ["weights": .vector(weights), "bias": 0.05])
        let plane = plane
        let exact = plane.map { x, y, band in
            var sum = 0.05
            for row in 0..<rows {
                for column in 0..<columns {
                    sum +=
                        weights[row * columns + column]
                        * plane[x + column - columns / 2, y - (row - rows / 2), band]
                }
            }
            return sum
        }
        let convolution = Convolution(filter, columns: columns, rows: rows)
        #expect(exact.greatestDifference(from: try run(convolution)) <= 1)
        #expect(try run(Convolution(Filter(name), columns: columns, rows: rows)) == codes)
        let grown = Convolution(
            try Filter(name, ["edge": "transparent"]), columns: columns, rows: rows)
        #expect(grown.growth == Extent(columns: columns / 2, rows: rows / 2))
    }

    @Test func `the cells of a pixellated photo are even and meet at the center`() throws {
        let filter = try Filter("CIPixellate", ["center": [10, 9], "scale": 6])
        let size = PixelSize(width: width, height: height)
        let bytes = try run(CIPixellate(filter, size))
        func pixel(_ x: Int, _ y: Int) -> ArraySlice<UInt8> {
            bytes[(y * width + x) * 3..<(y * width + x) * 3 + 3]
        }
        // Nine rows from the bottom: a corner of cells lies between rows 19 and 20.
        for (x, y) in [(10, 20), (4, 14), (16, 20)] {
            for i in 0..<36 { #expect(pixel(x + i % 6, y + i / 6) == pixel(x, y)) }
            // The centre of such a cell lies between four pixels.
            let light = (0..<4).map { plane[x + 2 + $0 % 2, y + 2 + $0 / 2, 1] }.reduce(0, +) / 4
            #expect(
                abs(Reference.encode(light) - Int(pixel(x, y)[pixel(x, y).startIndex + 1])) <= 1)
        }
        #expect(pixel(9, 20) != pixel(10, 20) && pixel(10, 19) != pixel(10, 20))
    }

    @Test func `noise below the level is smoothed and an edge above it stays`() throws {
        var codes: [UInt8] = []
        for y in 0..<20 {
            for x in 0..<20 {
                let noise = UInt8((x * 7 + y * 3) % 5)
                codes += [UInt8](repeating: x < 10 ? 100 + noise : 200 + noise, count: 3)
            }
        }
        let filter = CINoiseReduction(
            try Filter("CINoiseReduction", ["noiseLevel": 0.05, "sharpness": 0]))
        let bytes = try Image.of(codes, 20, 20).filtered(filter).pixels()
        func spread(_ bytes: [UInt8], _ columns: Range<Int>) -> Int {
            let values = (1..<19).flatMap { y in columns.map { Int(bytes[(y * 20 + $0) * 3]) } }
            return (values.max() ?? 0) - (values.min() ?? 0)
        }
        #expect(spread(bytes, 1..<9) <= spread(codes, 1..<9) / 2)
        #expect(Int(bytes[(10 * 20 + 10) * 3]) - Int(bytes[(10 * 20 + 9) * 3]) > 90)
    }

    @Test func `edge work is black where nothing is and has lines along edges`() throws {
        var codes: [UInt8] = []
        for _ in 0..<30 { for x in 0..<40 { codes += x < 20 ? [20, 20, 20] : [230, 200, 90] } }
        let filter = CIEdgeWork(try Filter("CIEdgeWork"))
        let bytes = try Image.of(codes, 40, 30).filtered(filter).pixels()
        func grey(_ x: Int) -> UInt8 { bytes[(15 * 40 + x) * 3] }
        #expect(grey(2) == 0 && grey(38) == 0)
        #expect(grey(18) == 255 || grey(21) == 255)
    }

    @Test func `shadows get the light that Core Image gives them, and midtones keep theirs`() throws
    {
        // Luminance before and Core Image's own gain, for a shadow amount of 1.5.
        let measured: [(code: UInt8, gain: Double)] = [(16, 5.9), (46, 2.87), (86, 1.9), (190, 1)]
        let filter = CIHighlightShadowAdjust(
            try Filter("CIHighlightShadowAdjust", ["shadowAmount": 1.5]))
        for (code, gain) in measured {
            let bytes = try Image.of([code, code, code], 1, 1).filtered(filter).pixels()
            let ours = Reference.decode(Double(bytes[0])) / Reference.decode(Double(code))
            #expect(abs(ours / gain - 1) < 0.12, "\(code): \(ours)")
        }
        let identity = CIHighlightShadowAdjust(try Filter("CIHighlightShadowAdjust"))
        #expect(try run(identity) == codes)
    }

    @Test func `CSS blurs encoded values`() throws {
        let plane = plane
        let encoded = plane.map {
            let light = plane[$0, $1, $2]
            return light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
        }.blurred(3)
        let exact = encoded.light.map { Int(($0 * 255).rounded()) }
        let bytes = try run(CSSBlur(try Filter("css:blur", ["radius": 3])))
        #expect(zip(exact, bytes).allSatisfy { abs($0 - Int($1)) <= 1 })
    }

    @Test func `every filter takes a photo of one pixel and one with alpha`() throws {
        let names = FilterCatalogue.all.map(\.name)
        for name in names {
            guard let definition = FilterCatalogue.definition(named: name),
                case .neighbourhood(let make) = definition.kernel
            else { continue }
            let filter = try make(
                try Filter(name), FilterContext(size: PixelSize(width: 1, height: 1)))
            _ = try Image.of([1, 2, 3], 1, 1).filtered(filter).pixels()
            let clear = try Image.of([9, 9, 9, 0], 1, 1, bands: 4).filtered(filter).pixels()
            #expect(clear[3] == 0, "\(name)")
        }
    }
}
