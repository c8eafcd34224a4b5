import Edits
import Foundation
import RenderProtocol
import Testing
import Codecs

@testable import Rendering

/// `ops/bench/estimate` measures all shapes of jobs; these few stand for the terms of the model, so that a change of the
/// code that needs more memory than is estimated is found by its tests.
@Suite("Calibration of the estimate", .timeLimit(.minutes(10))) struct CalibrationTests {
    private let studio: Studio

    init() throws { studio = try Studio() }

    /// What a render may need beyond its estimate, as of all shapes.
    private static let ratioMax = 1.1

    struct Shape: Sendable, CustomTestStringConvertible {
        let photo: String
        let width: Int, height: Int
        var filters: [Filter] = []
        var output = Recipe.Output()
        var testDescription: String { "\(width)×\(height) \(photo), \(filters), \(output)" }
    }

    static func shapes() throws -> [Shape] {
        let turn = try Filter("turn"), sepia = try Filter("CISepiaTone")
        let low = try Filter("CICrop", ["rectangle": [5, 3, 601, 201]])
        return [
            Shape(photo: "jpeg", width: 6000, height: 4000),
            Shape(photo: "jpeg", width: 6000, height: 4000, filters: [turn]),
            Shape(photo: "jpeg", width: 6000, height: 4000, filters: [low]),
            Shape(photo: "jpeg", width: 3000, height: 2000, output: .init(format: .webp)),
            Shape(photo: "jpeg", width: 6000, height: 4000, output: .init(format: .png)),
            Shape(photo: "jpeg", width: 3000, height: 2000, output: .init(format: .tiff)),
            Shape(
                photo: "jpeg", width: 6000, height: 4000,
                output: .init(format: .jpeg, quality: 0.5, progressive: true)),
            Shape(
                photo: "progressive", width: 6000, height: 4000,
                output: .init(format: .jpeg, quality: 0.5)),
            Shape(photo: "png", width: 3000, height: 2000, filters: [turn]),
            Shape(photo: "tiff", width: 3000, height: 2000, output: .init(format: .jpeg)),
            Shape(photo: "webp", width: 3000, height: 2000, output: .init(format: .jpeg)),
            Shape(photo: "jpeg", width: 1500, height: 1000, filters: [sepia]),
            Shape(photo: "jpeg", width: 1500, height: 1000, filters: [try Filter("CIBoxBlur")]),
            Shape(
                photo: "jpeg", width: 1500, height: 1000,
                filters: [try Filter("CIStraightenFilter", ["angle": 0.3])]),
        ]
    }

    private func photo(_ shape: Shape) throws -> String {
        let image = try TestPicture.image(width: 600, height: 400)
            .resized(width: shape.width, height: shape.height)
        let path = studio.path("photo")
        switch shape.photo {
        case "png": try image.writePNG(to: path)
        case "tiff": try image.writeTIFF(to: path)
        case "webp": try image.writeWebP(to: path, quality: 80)
        default:
            try image.writeJPEG(
                to: path, quality: 85, chroma: .on, progressive: shape.photo == "progressive")
        }
        return path
    }

    @Test(arguments: try shapes())
    func `a child needs no more than was estimated`(_ shape: Shape) throws {
        let child = try Child(environment: ["MALLOC_ARENA_MAX": "2"])
        let (source, recipe) = (
            try photo(shape), try Recipe(filters: shape.filters, output: shape.output)
        )
        guard case .inspected(let found)? = try child.ask(.inspect(source, recipe)) else {
            Issue.record("not inspected")
            return
        }
        let reply = try child.ask(.render(source, recipe, to: studio.path("result")))
        guard case .rendered? = reply else {
            Issue.record("\(String(describing: reply))")
            return
        }
        let (plan, peak) = (found.plan, try child.peakBytes())
        let allowed = Int(Double(plan.estimate.memoryBytes) * Self.ratioMax)
        #expect(peak <= allowed, "\(peak) of \(plan.estimate) in \(plan.lane)")
        // A figure that is far too high keeps others waiting. Small photos are mostly the process.
        #expect(peak * 2 >= plan.estimate.memoryBytes)
    }
}
