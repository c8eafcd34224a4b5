import Edits
import Testing

@Suite("Comparing recipes") struct RecipeComparisonTests {
    private func recipe(
        _ filters: String..., output: Recipe.Output = Recipe.Output()
    ) throws -> Recipe {
        try Recipe(filters: filters.map { try Filter(text: $0, at: "filter") }, output: output)
    }

    private func lines(_ old: Recipe, _ new: Recipe) -> [String] {
        RecipeComparison(from: old, to: new).lines
    }

    @Test func `a recipe is the same as itself`() throws {
        let one = try recipe("CISepiaTone", "CIColorInvert")
        let comparison = RecipeComparison(from: one, to: one)
        #expect(comparison.isSame)
        #expect(comparison.lines == ["  0  CISepiaTone", "  1  CIColorInvert"])
    }

    @Test func `a changed parameter is told with both values`() throws {
        #expect(
            lines(try recipe("CISepiaTone:intensity=0.8"), try recipe("CISepiaTone:intensity=0.5"))
                == ["~ 0  CISepiaTone", "~      inputIntensity 0.8 → 0.5"])
    }

    @Test
    func `an added step has a plus, a removed one a minus, others their old and new position`()
        throws
    {
        let old = try recipe("CIColorInvert", "CISepiaTone:intensity=0.8")
        let new = try recipe("CISepiaTone:intensity=0.8", "CIGaussianBlur:radius=12")
        #expect(
            lines(old, new) == [
                "- 0  CIColorInvert", "  1 → 0  CISepiaTone", "+ 1  CIGaussianBlur",
                "+      inputRadius 12 pixels", "+      edge \"clamp\"",
            ])
    }

    @Test func `of two steps of one filter the one that did not change is taken for itself`() throws
    {
        let old = try recipe("CISepiaTone:intensity=0.2", "CISepiaTone:intensity=0.8")
        let new = try recipe("CISepiaTone:intensity=0.8")
        #expect(
            RecipeComparison(from: old, to: new).steps == [
                .removed(old: 0, old.filters[0]), .same(old: 1, new: 0, new.filters[0]),
            ])
    }

    @Test func `a step that moved is removed and added`() throws {
        let old = try recipe("CISepiaTone", "CIColorInvert")
        let new = try recipe("CIColorInvert", "CISepiaTone")
        let comparison = RecipeComparison(from: old, to: new)
        #expect(comparison.steps.count == 3 && !comparison.isSame)
    }

    @Test func `another output is told field by field`() throws {
        let new = try recipe(output: Recipe.Output(format: .avif, quality: 0.5))
        #expect(
            lines(try recipe(), new) == [
                "~ output  format not said → \"avif\"", "~ output  quality 0.9 → 0.5",
            ])
    }

    @Test func `a recipe as text has positions, parameters and units as amendments name them`()
        throws
    {
        let one = try recipe(
            "CIGaussianBlur:radius=12", "CICrop:rectangle=[0,0,9,5]",
            output: Recipe.Output(quality: 0.5))
        #expect(
            one.lines == [
                "0  CIGaussianBlur", "     inputRadius 12 pixels", "     edge \"clamp\"",
                "1  CICrop",
                "     inputRectangle [0,0,9,5] (x, y, x, y)", "output  quality 0.5",
            ])
    }

    @Test func `a long value is cut`() throws {
        let numbers = Array(repeating: "0.123456", count: 96).joined(separator: ",")
        let one = try recipe("CIColorCurves:curvesData=[\(numbers)]")
        #expect(one.lines.allSatisfy { $0.count < 200 })
        #expect(one.lines.contains { $0.hasSuffix("…") })
    }
}
