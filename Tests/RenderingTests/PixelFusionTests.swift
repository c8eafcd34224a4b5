import Edits
import Filters
import MinilabTesting
import Testing

@Suite("Joined filters of single pixels") struct PixelFusionTests {
    private static let size = PixelSize(width: 640, height: 480)

    private func working(_ texts: [String]) throws -> [any PixelFilter] {
        try texts.map { text in
            let filter = try Filter(text: text, at: "filter")
            guard case .pixel(let make) = filter.definition.kernel else {
                preconditionFailure("\(filter.name) is no filter of single pixels")
            }
            return try make(filter, FilterContext(size: Self.size))
        }
    }

    /// The colours that filters make, three numbers each, one filter after the other.
    private func run(
        _ filters: [any PixelFilter], on colours: [[Float]], x: Double = 0.5, y: Double = 0.5
    ) -> [[Float]] {
        let capacity = PixelChunk.capacity
        let planes = UnsafeMutablePointer<Float>.allocate(capacity: 4 * capacity)
        defer { planes.deallocate() }
        for (i, colour) in colours.enumerated() {
            for band in 0..<3 { planes[band * capacity + i] = colour[band] }
            planes[3 * capacity + i] = 1
        }
        let chunk = PixelChunk(
            count: colours.count, red: planes, green: planes + capacity,
            blue: planes + 2 * capacity, alpha: planes + 3 * capacity, x: x, y: y)
        for filter in filters { filter.apply(to: chunk) }
        return colours.indices.map { i in (0..<3).map { planes[$0 * capacity + i] } }
    }

    private func colours(_ random: inout SeededGenerator) -> [[Float]] {
        (0..<PixelChunk.capacity).map { _ in
            (0..<3).map { _ in
                let code = Float.random(in: -0.1...1.1, using: &random)
                return code * code.magnitude
            }
        }
    }

    /// Codes of 16 bits that two amounts of light are apart.
    private func codes(_ a: Float, _ b: Float) -> Double {
        func encoded(_ light: Float) -> Double {
            ToneCurve.sRGB.encoded(Double(light)) * 65_535
        }
        return abs(encoded(a) - encoded(b))
    }

    private static let tone =
        "CIToneCurve:inputPoint1=[0.25,0.2],inputPoint3=[0.75,0.8]"

    @Test(arguments: [
        (
            [
                "CIExposureAdjust:ev=0.4", "CITemperatureAndTint:targetNeutral=[5500,10]",
                "CIColorControls:saturation=1.3,contrast=1.1,brightness=0.02",
                "CIHueAdjust:angle=0.3",
                "CIColorMatrix:inputRVector=[0.9,0.1,0,0],inputBiasVector=[0.01,0,0,0]",
                "CIColorInvert",
                "CIWhitePointAdjust:color=[1,0.9,0.8,1]",
            ], [7]
        ),
        ([tone, "CIGammaAdjust:power=0.8", "CILinearToSRGBToneCurve"], [3]),
        (["css:contrast:amount=1.4", "css:saturate:amount=0.6", "css:sepia:amount=0.5"], [3]),
        (
            [
                "CIExposureAdjust:ev=-0.5", tone, "CIExposureAdjust:ev=0.2",
                "CIWhitePointAdjust:color=[1,0.9,0.8,1]",
            ],
            [1, 1, 2]
        ),
        (["CIExposureAdjust:ev=1", "CIVibrance:amount=0.5", "CIExposureAdjust:ev=-1"], [1, 1, 1]),
        // Alpha goes into a channel, or becomes another one.
        (["CIColorMatrix:inputRVector=[1,0,0,0.1]", "CIColorInvert"], [1, 1]),
        (["CIColorMatrix:inputAVector=[0,0,0,0.5]", "CIColorInvert"], [1, 1]),
    ])
    func `neighbours of a kind are one, and their result is theirs within codes of 16 bits`(
        _ texts: [String], _ counts: [Int]
    ) throws {
        var random = SeededGenerator()
        random.printSeed()
        let filters = try working(texts)
        let groups = PixelFusion.groups(of: filters)
        #expect(groups.map(\.count) == counts)
        let colours = colours(&random)
        let apart = run(filters, on: colours)
        let joined = run(groups.compactMap(\.working), on: colours)
        let worst = zip(apart.joined(), joined.joined()).map { codes($0, $1) }.max() ?? .infinity
        // Matrices are exact but for Floats. The tables of curves are within a code each, the joined one and those apart.
        let hasCurve = groups.contains { $0.form == .curve }
        #expect(worst <= (hasCurve ? 2 : 1), "\(worst) codes")
    }

    @Test func `what changes nothing vanishes`() throws {
        let identity = try working([
            "CIToneCurve", "CIExposureAdjust:ev=1", "CIExposureAdjust:ev=-1",
            "CIGammaAdjust:power=2", "CIGammaAdjust:power=0.5",
        ])
        let groups = PixelFusion.groups(of: identity)
        #expect(groups.map(\.count) == [1, 2, 2])
        #expect(groups.allSatisfy { $0.working == nil && $0.form == .nothing })
        let nearly = PixelFusion.groups(of: try working(["CIExposureAdjust:ev=0.001"]))
        #expect(nearly.allSatisfy { $0.working != nil })
    }

    @Test func `a curve with a step stays what it was`() throws {
        // So steep between its middle points that lines between a table's entries would miss it.
        let step =
            "CIToneCurve:inputPoint1=[0.49999,0],inputPoint2=[0.5,0.5],inputPoint3=[0.50001,1]"
        let groups = PixelFusion.groups(of: try working([step, Self.tone]))
        #expect(groups.map(\.count) == [1, 1])
        #expect(groups[0].form == nil && groups[1].form == .curve)
    }

    @Test(arguments: [
        "CIVignette:intensity=1.5,radius=2", "CIVignette:intensity=-1,radius=0.5",
        "CIVignetteEffect:center=[150.3,99.7],radius=200,intensity=0.8",
        "CIVignetteEffect:center=[-40,700],radius=500,falloff=0.1",
        "CIVignetteEffect:center=[300,200],radius=180,falloff=0",
    ])
    func `a vignette's table gives its formula's light, wherever a chunk begins`(_ text: String)
        throws
    {
        let filter = try #require(try working([text])[0] as? any RadialGain)
        let white = [[Float]](repeating: [1, 1, 1], count: PixelChunk.capacity)
        for row in stride(from: 0, to: Self.size.height, by: 17) {
            let y = Double(row) + 0.5
            let line = run([filter], on: white, x: 200.5, y: y).map { $0[0] }
            for (i, light) in line.enumerated() {
                let (dx, dy) = (200.5 + Double(i) - filter.centre.x, y - filter.centre.y)
                let exact = filter.gain(at: (dx * dx + dy * dy).squareRoot())
                #expect(codes(light, Float(exact)) <= 1, "(\(i), \(row)): \(light), not \(exact)")
            }
            let later = run([filter], on: Array(white.dropLast(100)), x: 300.5, y: y)
            #expect(later.map { $0[0] } == Array(line[100...]))
        }
    }
}
