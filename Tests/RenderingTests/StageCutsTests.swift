import Edits
import Testing

@testable import Rendering

@Suite("Where a chain of rows is cut for threads") struct StageCutsTests {
    @Test func `parts have about the same to do`() {
        #expect(StageCuts(costs: [10, 10, 10, 10], parts: 2).positions == [2])
        #expect(StageCuts(costs: [30, 5, 5], parts: 2).positions == [1])
        #expect(StageCuts(costs: [5, 5, 30], parts: 2).positions == [2])
        #expect(StageCuts(costs: [20, 10, 10, 20], parts: 3).positions == [1, 3])
    }

    @Test func `no cut is made where there is one thing to do`() {
        #expect(StageCuts(costs: [10], parts: 2).positions == [])
        #expect(StageCuts(costs: [], parts: 2).positions == [])
        #expect(StageCuts(costs: [10, 10], parts: 1).positions == [])
        #expect(StageCuts(costs: [1, 100, 1], parts: 4).positions == [1, 2])
    }

    @Test func `a single thread cuts nothing, and neither does a warp of a picture in any order`()
        throws
    {
        let blur = Pass.neighbourhood(try Filter("CIGaussianBlur"), OneRow())
        #expect(StageCuts(of: [blur, blur], threads: 1) == nil)
        #expect(StageCuts(of: [blur, blur], threads: 2)?.positions == [1])
    }

    private struct OneRow: NeighbourhoodFilter {
        let reach = Extent(columns: 0, rows: 0)
        func rows(from source: any RowSource) -> any RowSource { source }
    }
}
