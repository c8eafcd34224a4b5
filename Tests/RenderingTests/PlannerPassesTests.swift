import Edits
import RenderProtocol
import Testing

@testable import Rendering

/// The order of passes, and what streams, decided from geometries alone.
@Suite("Passes of a plan") struct PlannerPassesTests {
    private static let size = PixelSize(width: 96, height: 64)
    /// Filters of single pixels that do not depend on the position.
    private let pixels = Pass.pixels([])
    private let turn = Geometry(of: size, turn: .right)

    /// A shear by so many rows for each column.
    private func shear(_ slope: Double, width: Int, height: Int) -> Geometry {
        let size = PixelSize(width: width, height: height)
        return Geometry(
            of: size, size: size,
            toSource: Homography(affine: 1, 0, 0, slope, 1, 0))
    }

    /// A turn by an odd angle, of which only the middle of the source is seen.
    private func middle(of source: PixelSize) -> Geometry {
        Geometry(
            of: source, size: PixelSize(width: 8, height: 8),
            toSource: Homography(
                affine: 0.8, -0.6, Double(source.width) / 2, 0.6, 0.8, Double(source.height) / 2))
    }

    private func names(_ steps: [Pass]) -> [String] {
        Planner.passes(of: steps, keepsAlpha: true).map { pass in
            switch pass {
            case .pixels: "pixels"
            case .neighbourhood: "neighbourhood"
            case .geometry(let geometry):
                switch geometry.kind {
                case .identity: "identity"
                case .crop: "crop"
                case .turn: "turn"
                case .scale: "scale"
                case .warp: "warp"
                }
            }
        }
    }

    private func edges() throws -> Pass {
        let filter = try Filter("CIEdges")
        guard case .neighbourhood(let make) = filter.definition.kernel else {
            throw Failure(.internalError, "CIEdges reads no neighbours")
        }
        return .neighbourhood(filter, try make(filter, FilterContext(size: Self.size)))
    }

    // MARK: Streams

    @Test(arguments: [(33, false), (34, true)])
    func `a warp streams while its window is less than a third of the picture`(
        height: Int, streams: Bool
    ) {
        let geometry = shear(0.125, width: 16, height: height)
        #expect(geometry.kind == .warp && geometry.streamingRows == 11)
        #expect(Planner.streams(geometry) == streams)
    }

    @Test(arguments: [(131_072, true), (131_073, false)])
    func `a warp streams while its window has at most 24 MiB`(width: Int, streams: Bool) {
        let geometry = shear(3 / 131_072, width: width, height: 400)
        #expect(geometry.streamingRows == 12)
        #expect(Planner.streams(geometry) == streams)
    }

    @Test func `a warp that reads its source from bottom to top does not stream`() {
        let geometry = Geometry(
            of: Self.size, size: Self.size, toSource: Homography(affine: 1, 0, 0, 0.1, -1, 64))
        #expect(geometry.kind == .warp && geometry.streamingRows == nil)
        #expect(!Planner.streams(geometry))
    }

    // MARK: Order

    @Test func `a crop goes before all filters that do not depend on the position`() throws {
        let crop = Pass.geometry(
            Geometry(of: Self.size, crop: PixelRectangle(x: 8, y: 8, width: 32, height: 32)))
        #expect(names([pixels, crop]) == ["crop", "pixels"])
        #expect(names([try edges(), pixels, crop]) == ["neighbourhood", "crop", "pixels"])
        #expect(names([pixels, try edges(), crop]) == ["pixels", "neighbourhood", "crop"])
    }

    @Test func `the part of the source that a warp reads is cropped first`() throws {
        let warp = Pass.geometry(middle(of: Self.size))
        #expect(names([warp]) == ["crop", "warp"])
        #expect(names([pixels, warp]) == ["crop", "pixels", "warp"])
        // Filters that follow each other are passes of their own until the crop has passed them.
        #expect(names([pixels, pixels, pixels, warp]) == ["crop", "pixels", "warp"])
        #expect(names([pixels, try edges(), warp]) == ["pixels", "neighbourhood", "crop", "warp"])
    }

    @Test func `a crop goes before a turn, too, in the turned pixels`() throws {
        let steps = [Pass.geometry(turn), pixels, .geometry(middle(of: turn.size))]
        #expect(names(steps) == ["crop", "pixels", "warp"])
        guard case .geometry(let crop)? = Planner.passes(of: steps, keepsAlpha: true).first else {
            Issue.record("the first pass is no crop")
            return
        }
        #expect(crop.source == Self.size)
        let cut = try #require(middle(of: turn.size).cutting.crop?.size)
        #expect(crop.size == PixelSize(width: cut.height, height: cut.width))
    }

    @Test func `a turn goes behind filters where it ends the chain or meets a geometry`() throws {
        let turn = Pass.geometry(turn)
        #expect(names([turn, pixels]) == ["pixels", "turn"])
        #expect(names([try edges(), turn, pixels]) == ["neighbourhood", "pixels", "turn"])
        #expect(names([turn, pixels, try edges()]) == ["turn", "pixels", "neighbourhood"])
        #expect(names([turn, try edges()]) == ["turn", "neighbourhood"])
        #expect(names([turn]) == ["turn"])
        let half = Geometry(
            of: self.turn.size, size: PixelSize(width: 32, height: 48),
            toSource: Homography(affine: 2, 0, 0, 0, 2, 0))
        #expect(names([turn, pixels, .geometry(half)]) == ["pixels", "scale", "turn"])
        #expect(
            names([turn, pixels, .geometry(half), pixels, try edges()])
                == ["pixels", "scale", "turn", "pixels", "neighbourhood"])
    }

    // MARK: Small copies

    /// The passes of a blur beyond the edges, for a photo and for a copy of it.
    private func grown(
        _ name: String, radius: Double, photo: PixelSize, copy: PixelSize, orientation: Int = 1
    ) throws -> (full: Extent, small: Extent, fit: Geometry) {
        let header = PhotoHeader(
            format: .jpeg, storedSize: photo, orientation: orientation, bands: 3, bitsPerSample: 8,
            hasAlpha: false, hasProfile: false)
        let filter = try Filter(name, ["radius": .number(radius), "edge": "transparent"])
        let passes = try Planner.passes(
            of: Recipe(filters: [Filter("CISepiaTone", ["intensity": 0]), filter]), for: header,
            on: copy, .none)
        guard case .neighbourhood(let make) = filter.definition.kernel, passes.count == 2,
            case .neighbourhood(_, let working) = passes[0], case .geometry(let fit) = passes[1]
        else { throw Failure(.internalError, "\(passes)") }
        let full = try make(filter, FilterContext(size: header.uprightSize)).growth
        return (full, working.growth, fit)
    }

    @Test func `a small copy that grew shows the same part as the photo that grew`() throws {
        let (photo, copy) = (
            PixelSize(width: 6000, height: 4000), PixelSize(width: 600, height: 400)
        )
        let (full, small, fit) = try grown("CIGaussianBlur", radius: 8, photo: photo, copy: copy)
        // Otherwise both grow alike, and nothing is fitted.
        #expect(full.columns != 10 * small.columns)
        let whole = PixelSize(
            width: photo.width + 2 * full.columns, height: photo.height + 2 * full.rows)
        #expect(
            fit.source
                == PixelSize(
                    width: copy.width + 2 * small.columns, height: copy.height + 2 * small.rows))
        #expect(
            fit.size
                == PixelSize(
                    width: Int((Double(whole.width) / 10).rounded()),
                    height: Int((Double(whole.height) / 10).rounded())))
        for (x, y) in [(0.0, 0.0), (100, 50), (605, 405)] {
            let seen = fit.toSource(Point(x, y))
            // Through the photo that grew, the photo, the copy, and the copy that grew.
            let across = x * Double(whole.width) / Double(fit.size.width) - Double(full.columns)
            let up = y * Double(whole.height) / Double(fit.size.height) - Double(full.rows)
            #expect(abs(seen.x - (across / 10 + Double(small.columns))) < 1e-6)
            #expect(abs(seen.y - (up / 10 + Double(small.rows))) < 1e-6)
        }
    }

    @Test func `a copy of one row or column keeps it`() throws {
        for isTall in [false, true] {
            func size(_ long: Int, _ short: Int) -> PixelSize {
                isTall
                    ? PixelSize(width: short, height: long) : PixelSize(width: long, height: short)
            }
            let filter = try Filter(
                "CIMotionBlur",
                [
                    "radius": 8, "angle": .number(isTall ? Double.pi / 2 : 0),
                    "edge": "transparent",
                ])
            let header = PhotoHeader(
                format: .jpeg, storedSize: size(6000, 10), orientation: 1, bands: 3,
                bitsPerSample: 8, hasAlpha: false, hasProfile: false)
            let passes = try Planner.passes(
                of: Recipe(filters: [filter]), for: header, on: size(600, 1), .none)
            guard case .geometry(let fit)? = passes.last else {
                Issue.record("nothing is fitted: \(passes)")
                continue
            }
            #expect((isTall ? fit.size.width : fit.size.height) == 1)
        }
    }

    // MARK: Copies

    @Test(arguments: [PhotoFormat.jpeg, .png])
    func `a file is copied unless the output asks for other bytes`(format: PhotoFormat) throws {
        let header = PhotoHeader(
            format: format, storedSize: Self.size, orientation: 1, bands: 3, bitsPerSample: 8,
            hasAlpha: false, hasProfile: false, chroma: format == .jpeg ? .half : nil)
        func isCopied(_ output: Recipe.Output) throws -> Bool {
            try Planner.plan(
                Recipe(filters: [], output: output), for: header, resources: .none
            ).plan.lane == .copy
        }
        #expect(try isCopied(.init()))
        #expect(try isCopied(.init(bitDepth: .eight)))
        #expect(try !isCopied(.init(colorSpace: .srgb)))
        #expect(try !isCopied(.init(background: .white)))
        if format == .jpeg {
            #expect(try isCopied(.init(chroma: .half)))
            #expect(try !isCopied(.init(quality: 0.5)))
            #expect(try !isCopied(.init(chroma: .full)))
            #expect(try !isCopied(.init(progressive: true)))
        } else {
            #expect(try !isCopied(.init(bitDepth: .sixteen)))
            #expect(try !isCopied(.init(compression: .small)))
        }
    }
}
