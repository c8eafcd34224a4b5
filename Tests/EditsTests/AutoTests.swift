import Edits
import Testing

@testable import Filters

@Suite("auto") struct AutoTests {
    /// Statistics of a ramp of greys from one code to another.
    private func ramp(_ codes: ClosedRange<Int>) -> PhotoStatistics {
        PhotoStatistics(codes: codes.flatMap { [UInt8($0), UInt8($0), UInt8($0)] })
    }

    @Test func `a recipe is resolved to concrete filters, in place`() throws {
        let recipe = try Recipe(
            json: #"{"filters": [{"name": "auto"}, {"name": "CISepiaTone"}]}"#)
        #expect(recipe.isAutomatic)
        let resolved = try recipe.resolved(by: ramp(30...120))
        #expect(!resolved.isAutomatic)
        #expect(resolved.filters.first?.name == "CIToneCurve")
        #expect(resolved.filters.last?.name == "CISepiaTone")
        #expect(try Recipe(json: resolved.json.canonical) == resolved)
    }

    @Test func `a dark photo becomes brighter and its shadows open`() throws {
        let filters = try Auto.filters(for: ramp(0...110), strength: 1)
        let middle = try #require(filters.first).vector("inputPoint2")
        #expect(middle[1] > middle[0])
        #expect(filters.contains { $0.name == "CIHighlightShadowAdjust" })
    }

    @Test func `a photo of all tones hardly changes`() throws {
        let curve = try #require(try Auto.filters(for: ramp(0...255), strength: 1).first)
        for number in 0...4 {
            let point = curve.vector("inputPoint\(number)")
            #expect(abs(point[0] - point[1]) < 0.05, "\(point)")
        }
    }

    @Test func `a strength of 0 changes nothing`() throws {
        for codes in [0...110, 90...160, 0...255] {
            let filters = try Auto.filters(for: ramp(codes), strength: 0)
            #expect(filters == [try Filter("CIToneCurve")])
        }
    }

    @Test func `the curve rises whatever the photo`() throws {
        for codes in [0...1, 254...255, 100...101, 0...30, 200...255] {
            let curve = try #require(try Auto.filters(for: ramp(codes), strength: 1).first)
            let values = (0...4).map { curve.vector("inputPoint\($0)")[1] }
            #expect(values == values.sorted() && values.allSatisfy { (0...1).contains($0) })
        }
    }
}
