import Edits
import RenderProtocol
import Testing

@testable import Rendering

@Suite("Planner") struct PlannerTests {
    private func header(
        _ format: PhotoFormat = .jpeg, _ width: Int = 6000, _ height: Int = 4000,
        orientation: Int = 1
    ) -> PhotoHeader {
        PhotoHeader(
            format: format, storedSize: PixelSize(width: width, height: height),
            orientation: orientation, bands: 3, bitsPerSample: 8, hasAlpha: false,
            hasProfile: false)
    }

    private func plan(
        _ recipe: Recipe, for header: PhotoHeader, planes: Recipe.Chroma? = nil
    ) throws(Failure) -> RenderPlan {
        try Planner.plan(
            recipe, for: header, planes: planes.map { chroma in { _ in chroma } },
            resources: .none
        ).plan
    }

    @Test func `planes are turned by EXIF and by the recipe, and not cut`() throws {
        let sepia = try Filter("CISepiaTone")
        let turn = try Filter("turn")
        let crop = try Filter("CICrop", ["rectangle": [0, 0, 64, 64]])
        for (filters, orientation, lane) in [
            ([sepia], 6, RenderPlan.Lane.planes), ([turn, sepia], 1, .planes),
            ([sepia, turn, sepia], 6, .planes), ([turn], 6, .spool),
            ([turn, sepia, crop], 1, .spool),
            ([crop, sepia], 1, .stream),
        ] {
            let plan = try plan(
                Recipe(filters: filters), for: header(orientation: orientation), planes: .half)
            #expect(plan.lane == lane, "\(filters), EXIF \(orientation)")
        }
    }

    @Test func `planes are edited by filters of single colours alone, from JPEG to JPEG`() throws {
        func lane(_ names: [String], _ format: Recipe.Format? = nil) throws -> RenderPlan.Lane {
            try plan(
                try Recipe(filters: names.map { try Filter($0) }, output: .init(format: format)),
                for: header(), planes: .half
            ).lane
        }
        #expect(try lane(["CISepiaTone", "CIColorInvert"]) == .planes)
        #expect(try lane(["CISepiaTone"], .png) == .stream)
        #expect(try lane(["CISepiaTone", "CIEdges"]) == .stream)
    }

    @Test func `per-pixel filters that follow each other share a pass`() throws {
        let (sepia, invert) = (try Filter("CISepiaTone"), try Filter("CIColorInvert"))
        let edges = try Filter("CIEdges")
        let plan = try self.plan(
            try Recipe(filters: [sepia, invert, edges, invert]), for: header())
        #expect(
            plan.passes == [
                .pixels([.init(filters: [sepia]), .init(filters: [invert], joined: .matrix)]),
                .neighbourhood(edges, columns: 1, rows: 1),
                .pixels([.init(filters: [invert], joined: .matrix)]),
            ])
    }

    @Test(arguments: zip(1...8, [1, 1, 0, 0, 0, 0, 0, 0]))
    func `only orientations 1 and 2 stream`(_ orientation: Int, _ streams: Int) throws {
        let plan = try self.plan(
            try Recipe(filters: [Filter("CISepiaTone")]), for: header(orientation: orientation))
        #expect(plan.lane == (streams == 1 ? .stream : .spool))
        #expect(plan.orientation == orientation)
    }

    @Test(arguments: [0, 1, Double.pi / 2])
    func `a blur of any size and direction streams`(_ angle: Double) throws {
        let blur = try Filter("CIMotionBlur", ["radius": 500, "angle": .number(angle)])
        #expect(try plan(try Recipe(filters: [blur]), for: header()).lane == .stream)
    }

    @Test func `a picture that grows by its filters is planned at its new size`() throws {
        let blur = try Filter("CIGaussianBlur", ["radius": 10, "edge": "transparent"])
        let planned = try Planner.plan(
            try Recipe(filters: [blur, blur]), for: header(),
            resources: .none)
        #expect(planned.plan.resultSize == PixelSize(width: 6120, height: 4120))
    }

    @Test func `a picture that grows beyond what a JPEG can hold is refused`() throws {
        let blur = try Filter("CIGaussianBlur", ["radius": 500, "edge": "transparent"])
        let error = #expect(throws: Failure.self) {
            try plan(try Recipe(filters: [blur]), for: header(.jpeg, 63_000, 10))
        }
        #expect(error?.code == .tooManyPixels)
    }

    @Test func `PNG and TIFF stay, all else becomes JPEG, and the recipe has the last word`() throws
    {
        let filters = [try Filter("CISepiaTone")]
        let plain = try Recipe(filters: filters)
        #expect(try plan(plain, for: header(.png)).output.format == .png)
        #expect(try plan(plain, for: header(.tiff)).output.format == .tiff)
        #expect(try plan(plain, for: header(.heif)).output.format == .jpeg)
        let asked = try Recipe(filters: filters, output: .init(format: .png))
        #expect(try plan(asked, for: header(.jpeg)).output.format == .png)
    }

    @Test func `a side that no JPEG can have is refused`() throws {
        let error = #expect(throws: Failure.self) {
            try plan(
                try Recipe(filters: [Filter("CISepiaTone")]), for: header(.heif, 70_000, 10))
        }
        #expect(error?.code == .tooManyPixels)
    }
}
