import Edits
import Editors
import FoundationEssentials
import Library
import Testing

@testable import Editing

@Suite("What an import comes to") struct ImportPlanTests {
    private typealias F = PlanFixture

    private let data = AdjustmentData(
        formatIdentifier: "com.example.other", formatVersion: "1.0", data: Data([7]))
    private let edit = Edit(.import(Edit.Import(adjustment: .sidecar(PlanFixture.asset))))

    private func imported(
        _ answer: EditorAnswer, hasBase: Bool = false, render: Bool = false
    ) -> ImportedEdit {
        ImportedEdit(
            adjustment: data, hasBase: hasBase, answer: answer,
            render: render ? ImportedEdit.Render(path: F.asset, sha256: "cc") : nil)
    }

    @Test func `a readable edit without a render is rendered from the original, its data kept`()
        throws
    {
        let plan = try EditPlan.adopt(
            imported(.canHandle(F.sepia())), edit, F.edited(F.sepia(0.1), hasBase: true))
        #expect(
            plan
                == .render(
                    EditPlan.RenderTask(input: .original, recipe: try F.sepia(), adjustment: data)))
    }

    @Test func `the same import sent again changes nothing, with or without its render`() throws {
        let current = F.edited(try F.sepia(), digest: edit.json.digest)
        let same = AdjustmentData(
            formatIdentifier: AdjustmentData.minilabFormatIdentifier, formatVersion: "1.0",
            data: Data([1]))
        func plan(
            _ data: AdjustmentData, render sha256: String? = nil, on asset: OpenAsset
        ) throws -> EditPlan {
            let imported = ImportedEdit(
                adjustment: data, hasBase: false, answer: .canHandle(try F.sepia()),
                render: sha256.map { ImportedEdit.Render(path: F.asset, sha256: $0) })
            return try EditPlan.adopt(imported, edit, asset)
        }
        let nothing = EditPlan.unchanged(EditPlan.alreadyThere)
        #expect(try plan(same, on: current) == nothing)
        #expect(try plan(same, render: "bb", on: current) == nothing)
        #expect(try plan(same, render: "cc", on: current) != nothing)
        #expect(try plan(data, on: current) != nothing)
        #expect(try plan(same, on: F.edited(try F.sepia())) != nothing)
    }

    @Test func `a render that came along is adopted, whether or not the edit can be read`() throws {
        let read = try EditPlan.adopt(
            imported(.canHandle(F.sepia()), render: true), edit, F.unedited)
        let unread = try EditPlan.adopt(
            imported(.cannotHandle("no."), render: true), edit, F.unedited)
        for (plan, recipe) in [(read, try F.sepia()), (unread, nil)] {
            guard case .adopt(let adoption) = plan else {
                Issue.record("expected .adopt, got \(plan)")
                continue
            }
            #expect(adoption.adjustment == data)
            #expect(adoption.recipe == recipe)
        }
    }

    @Test func `an edit on a base that did not come along is not rendered on the original`() throws
    {
        let failure = #expect(throws: Failure.self) {
            try EditPlan.adopt(imported(.canHandle(F.sepia()), hasBase: true), edit, F.unedited)
        }
        #expect(failure?.code == .cannotHandleAdjustmentData)
        let plan = try EditPlan.adopt(
            imported(.canHandle(F.sepia()), hasBase: true, render: true), edit, F.unedited)
        guard case .adopt(let adoption) = plan else {
            Issue.record("expected .adopt, got \(plan)")
            return
        }
        #expect(adoption.recipe == nil)
    }

    @Test func `an unreadable edit needs its render, and the sentence says so`() throws {
        let broken = Failure(.adjustmentDataUndecodable, "cut off")
        for (answer, code) in [
            (EditorAnswer.cannotHandle("no."), FailureCode.cannotHandleAdjustmentData),
            (.undecodable(broken), .adjustmentDataUndecodable),
        ] {
            let failure = #expect(throws: Failure.self) {
                try EditPlan.adopt(imported(answer), edit, F.unedited)
            }
            #expect(failure?.code == code)
        }
    }
}
