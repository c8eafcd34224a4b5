import Edits
import Editors
import Library
import RenderProtocol
import Testing

@testable import Editing
@testable import RenderPool

@Suite("What an edit comes to") struct EditPlanTests {
    private typealias F = PlanFixture

    private func task(_ plan: EditPlan) throws -> EditPlan.RenderTask {
        guard case .render(let task) = plan else {
            throw Failure(.internalError, "expected a render, got \(plan)")
        }
        return task
    }

    private func steps(_ json: String) throws -> (Edit.Steps, Edit) {
        let edit = try F.edit(json)
        switch edit.mode {
        case .replace(let steps), .append(let steps): return (steps, edit)
        default: throw Failure(.internalError, "no steps")
        }
    }

    private func amendments(_ json: String) throws -> ([Amendment], Edit) {
        let edit = try F.edit(json)
        guard case .amend(let amendments) = edit.mode else {
            throw Failure(.internalError, "no amendments")
        }
        return (amendments, edit)
    }

    private let invert = #"{"filters": [{"name": "CIColorInvert"}]}"#

    // MARK: replace

    @Test func `replace on an asset that nobody edited renders the original`() throws {
        let (steps, edit) = try steps(invert)
        let task = try task(.replace(steps, edit, F.unedited))
        #expect(task.input == .original)
        #expect(task.recipe.filters.map(\.name) == ["CIColorInvert"])
        #expect(task.opened == nil)
    }

    @Test func `replace on a readable edit renders what that was made on, and says so`() throws {
        let (steps, edit) = try steps(invert)
        let task = try task(.replace(steps, edit, F.edited(F.sepia(), hasBase: true)))
        #expect(task.input == .base)
        #expect(task.opened?.canHandle == true)
    }

    @Test func `replace on an edit that nobody here can read renders its render`() throws {
        let (steps, edit) = try steps(invert)
        let task = try task(
            .replace(steps, edit, F.foreign(.cannotHandle("no editor here reads it."))))
        #expect(task.input == .current)
        #expect(task.opened?.canHandle == false)
        #expect(task.opened?.reason == "no editor here reads it.")
    }

    @Test func `data that cannot be decoded are not handled: the edit is made on their render`()
        throws
    {
        let (steps, edit) = try steps(invert)
        let broken = Failure(.adjustmentDataUndecodable, "cut off")
        let task = try task(.replace(steps, edit, F.foreign(.undecodable(broken))))
        #expect(task.input == .current)
        #expect(task.opened?.reason?.contains("cut off") == true)
    }

    @Test func `the recipe that is there is not rendered again`() throws {
        let (steps, edit) = try steps(#"{"filters": [{"name": "CISepiaTone", "intensity": 0.8}]}"#)
        #expect(
            try EditPlan.replace(steps, edit, F.edited(F.sepia()))
                == .unchanged(EditPlan.alreadyThere)
        )
    }

    @Test func `a recipe made on a preview is compared in pixels of the full photo`() throws {
        let blur = try Recipe(filters: [Filter("CIGaussianBlur", ["radius": 8])])
        let (steps, edit) = try steps(
            #"{"filters": [{"name": "CIGaussianBlur", "radius": 2}], "referenceSize": [100, 75]}"#)
        #expect(
            try EditPlan.replace(steps, edit, F.edited(blur)) == .unchanged(EditPlan.alreadyThere))
    }

    @Test func `the same edit sent again is known by its digest, whatever auto made of it`() throws
    {
        let (steps, edit) = try steps(#"{"filters": [{"name": "auto"}]}"#)
        let there = F.edited(try F.sepia(), digest: edit.json.digest)
        #expect(try EditPlan.replace(steps, edit, there) == .unchanged(EditPlan.alreadyThere))
    }

    @Test func `the same recipe written otherwise is another edit`() throws {
        let (steps, edit) = try steps(
            #"{"filters": [{"name": "CISepiaTone", "intensity": 0.8}], "output": {"quality": 0.5}}"#
        )
        #expect(try task(.replace(steps, edit, F.edited(F.sepia()))).recipe.output.quality == 0.5)
    }

    @Test func `no filter and no output is no edit, and never a default filter`() throws {
        let (steps, edit) = try steps(#"{"filters": []}"#)
        for asset in [F.unedited, F.edited(try F.sepia())] {
            guard case .unchanged = try EditPlan.replace(steps, edit, asset) else {
                Issue.record("expected .unchanged")
                continue
            }
        }
    }

    @Test func `the same edit with other fields of its asset is another edit`() throws {
        var (steps, edit) = try steps(
            #"{"filters": [{"name": "CISepiaTone", "inputIntensity": 0.8}]}"#)
        edit.fields = try AssetFields(json: #"{"name": "Ada"}"#)
        let there = F.edited(try F.sepia(), digest: edit.digest)
        guard case .unchanged = try EditPlan.replace(steps, edit, there) else {
            Issue.record("expected .unchanged")
            return
        }
        edit.fields = try AssetFields(json: #"{"name": "Bo"}"#)
        #expect(try task(.replace(steps, edit, there)).recipe == F.sepia())
        #expect(try task(.again(edit, there)).recipe == F.sepia())
    }

    @Test func `a copied edit with fields and renditions is known when it is sent again`() throws {
        var edit = try F.edit(
            #"{"mode": "copyEdit", "from": "b.jpg", "renditions": {"web": {"box": [9, 9]}}}"#)
        edit.fields = try AssetFields(json: #"{"name": "Ada"}"#)
        let there = F.edited(try F.sepia(), digest: edit.changeDigest)
        #expect(
            try EditPlan.copy(F.sepia(), of: F.size, from: "b.jpg@1-1", edit, there)
                == .unchanged(EditPlan.alreadyThere))
        edit.fields = try AssetFields(json: #"{"name": "Bo"}"#)
        #expect(
            try task(.copy(F.sepia(), of: F.size, from: "b.jpg@1-1", edit, there)).recipe.filters
                == F.sepia().filters)
    }

    // MARK: append

    @Test func `append puts its filters behind those of the last edit, on the same input`() throws {
        let (steps, edit) = try steps(
            #"{"mode": "append", "filters": [{"name": "CIColorInvert"}]}"#)
        let task = try task(.append(steps, edit, F.edited(F.sepia(), hasBase: true)))
        #expect(task.recipe.filters.map(\.name) == ["CISepiaTone", "CIColorInvert"])
        #expect(task.input == .base && !task.keepsAdjustment)
    }

    @Test func `append on an asset that nobody edited is its first edit`() throws {
        let (steps, edit) = try steps(
            #"{"mode": "append", "filters": [{"name": "CIColorInvert"}]}"#)
        #expect(try task(.append(steps, edit, F.unedited)).recipe.filters.count == 1)
    }

    @Test func `append on an unreadable edit appends to its render`() throws {
        let (steps, edit) = try steps(
            #"{"mode": "append", "filters": [{"name": "CIColorInvert"}]}"#)
        let task = try task(.append(steps, edit, F.foreign(.cannotHandle("no."))))
        #expect(task.input == .current)
        #expect(task.recipe.filters.map(\.name) == ["CIColorInvert"])
    }

    @Test func `lengths of appended filters count a preview of what is current`() throws {
        let crop = try Recipe(filters: [Filter("CICrop", ["rectangle": .vector([0, 0, 200, 150])])])
        let (steps, edit) = try steps(
            """
            {"mode": "append", "filters": [{"name": "CIGaussianBlur", "radius": 2}],
             "referenceSize": [100, 75]}
            """)
        let cropped = PixelSize(width: 200, height: 150)
        let task = try task(.append(steps, edit, F.edited(crop, rendered: cropped)))
        #expect(task.recipe.filters[1] == (try Filter("CIGaussianBlur", ["radius": 4])))
    }

    @Test func `append keeps the output of the last edit unless it says another`() throws {
        let sepia = try F.sepia()
        let png = try Recipe(filters: sepia.filters, output: Recipe.Output(format: .png))
        let (steps, edit) = try steps(
            #"{"mode": "append", "filters": [{"name": "CIColorInvert"}]}"#)
        #expect(try task(.append(steps, edit, F.edited(png))).recipe.output.format == .png)
        let (more, other) = try self.steps(
            #"{"mode": "append", "filters": [{"name": "CIColorInvert"}], "output": {"format": "tiff"}}"#
        )
        #expect(try task(.append(more, other, F.edited(png))).recipe.output.format == .tiff)
    }

    // MARK: strip

    /// Plans edits that build on a last one: `append`, `amend`, `render` and `copyEdit`, each with some output settings.
    private func built(on last: Recipe, output: String) throws -> [Recipe.Output] {
        let there = F.edited(last)
        let (steps, append) = try steps(
            #"{"mode": "append", "filters": [{"name": "CIColorInvert"}], "output": \#(output)}"#)
        let (changes, amend) = try amendments(
            """
            {"mode": "amend", "output": \(output),
             "changes": [{"step": "CISepiaTone", "set": {"intensity": 0.5}}]}
            """)
        let render = try F.edit(#"{"mode": "render", "output": \#(output)}"#)
        let copy = try F.edit(#"{"mode": "copyEdit", "from": "b.jpg", "output": \#(output)}"#)
        let plans: [EditPlan] = [
            try .append(steps, append, there), try .amend(changes, amend, there),
            try .again(render, there),
            try .copy(last, of: F.size, from: "b.jpg@1-1", copy, there),
        ]
        return try plans.map { try task($0).recipe.output }
    }

    @Test func `a place that was removed stays removed in another format`() throws {
        for strip in [Recipe.Strip.gps, .all] {
            let last = try Recipe(
                filters: F.sepia().filters,
                output: Recipe.Output(strip: strip, keepsRights: strip == .all))
            for output in try built(on: last, output: #"{"format": "png"}"#) {
                #expect(output.format == .png && output.strip == strip)
                #expect(output.keepsRights == (strip == .all))
            }
            for output in try built(on: last, output: #"{"format": "png", "strip": "none"}"#) {
                #expect(output.strip == .none && !output.keepsRights)
            }
        }
        let plain = try F.sepia()
        for output in try built(on: plain, output: #"{"strip": "gps"}"#) {
            #expect(output.strip == .gps)
        }
        for output in try built(on: plain, output: #"{"format": "png"}"#) {
            #expect(output.strip == .none)
        }
    }

    @Test func `an edit says again what it said of metadata`() throws {
        for text in [
            #"{"mode": "render", "output": {"quality": 0.5, "strip": "none"}}"#,
            #"{"mode": "render", "output": {"quality": 0.5}}"#,
        ] {
            let edit = try F.edit(text)
            let again = try F.edit(edit.json.canonical)
            #expect(again == edit && again.statesStrip == text.contains("none"))
        }
        // Where it changes nothing, it is the edit that it was.
        let replaced = try F.edit(#"{"filters": [], "output": {"strip": "none"}}"#)
        #expect(try replaced == F.edit(#"{"filters": [], "output": {}}"#))
    }

    @Test func `more steps than a recipe can have are refused`() throws {
        let many = try Recipe(
            filters: Array(repeating: Filter("CIColorInvert"), count: ContractLimits.filtersMax))
        let (steps, edit) = try steps(#"{"mode": "append", "filters": [{"name": "CIEdges"}]}"#)
        let failure = #expect(throws: Failure.self) {
            try EditPlan.append(steps, edit, F.edited(many))
        }
        #expect(failure?.code == .oversizedField)
    }

    // MARK: amend

    @Test func `amend changes one parameter and leaves the others`() throws {
        let recipe = try Recipe(filters: [
            Filter("CIVignette", ["intensity": 1, "radius": 2]), Filter("CIColorInvert"),
        ])
        let (amendments, edit) = try amendments(
            #"{"mode": "amend", "changes": [{"step": "CIVignette", "set": {"intensity": 0.5}}]}"#)
        let task = try task(.amend(amendments, edit, F.edited(recipe)))
        #expect(
            task.recipe.filters == [
                try Filter("CIVignette", ["intensity": 0.5, "radius": 2]),
                try Filter("CIColorInvert"),
            ])
    }

    @Test func `amend names steps by where they are before`() throws {
        let recipe = try Recipe(filters: [
            Filter("CIColorInvert"), Filter("CISepiaTone"), Filter("CIColorInvert"),
        ])
        let (amendments, edit) = try amendments(
            """
            {"mode": "amend", "changes": [{"step": 0, "remove": true},
             {"step": 1, "set": {"inputIntensity": 0.1}}]}
            """)
        let task = try task(.amend(amendments, edit, F.edited(recipe)))
        #expect(task.recipe.filters.map(\.name) == ["CISepiaTone", "CIColorInvert"])
        #expect(task.recipe.filters[0].parameters["inputIntensity"] == .number(0.1))
    }

    @Test func `null brings a parameter's default back`() throws {
        let (amendments, edit) = try amendments(
            #"{"mode": "amend", "changes": [{"step": 0, "set": {"intensity": null}}]}"#)
        let task = try task(.amend(amendments, edit, F.edited(F.sepia(0.3))))
        #expect(task.recipe.filters == [try Filter("CISepiaTone")])
    }

    @Test(arguments: [
        (#"[{"step": 1, "remove": true}]"#, FailureCode.noSuchStep, "0 CISepiaTone"),
        (#"[{"step": "CIEdges", "remove": true}]"#, .noSuchStep, "0 CISepiaTone"),
        (
            #"[{"step": 0, "remove": true}, {"step": "CISepiaTone", "set": {}}]"#, .invalidValue,
            "another change"
        ),
        (#"[{"step": 0, "set": {"inputRadius": 1}}]"#, .unknownParameter, "inputRadius"),
        (#"[{"step": 0, "set": {"inputIntensity": -7}}]"#, .parameterOutOfRange, "-7"),
        (#"[{"step": 0, "set": {"inputIntensity": "much"}}]"#, .invalidValue, "inputIntensity"),
    ])
    func `an amendment that does not fit is refused with its place`(
        changes: String, code: FailureCode, part: String
    ) throws {
        let (amendments, edit) = try amendments(#"{"mode": "amend", "changes": \#(changes)}"#)
        let failure = #expect(throws: Failure.self) {
            try EditPlan.amend(amendments, edit, F.edited(F.sepia()))
        }
        #expect(failure?.code == code)
        #expect(failure?.message.contains("edit.changes[") == true)
        #expect(failure?.message.contains(part) == true, "\(failure?.message ?? "")")
    }

    @Test func `a name that two steps have is refused, with their places`() throws {
        let recipe = try Recipe(filters: [Filter("CIColorInvert"), Filter("CIColorInvert")])
        let (amendments, edit) = try amendments(
            #"{"mode": "amend", "changes": [{"step": "CIColorInvert", "remove": true}]}"#)
        let failure = #expect(throws: Failure.self) {
            try EditPlan.amend(amendments, edit, F.edited(recipe))
        }
        #expect(failure?.code == .noSuchStep)
        #expect(failure?.message.contains("0 CIColorInvert, 1 CIColorInvert") == true)
    }

    @Test(arguments: [Edit.Name.amend, .render])
    func `what changes an edit needs one that can be read`(mode: Edit.Name) throws {
        func plan(_ asset: OpenAsset) throws -> EditPlan {
            switch mode {
            case .amend:
                let (amendments, edit) = try amendments(
                    #"{"mode": "amend", "changes": [{"step": 0, "remove": true}]}"#)
                return try .amend(amendments, edit, asset)
            default: return try .again(F.edit(#"{"mode": "render"}"#), asset)
            }
        }
        let broken = Failure(.adjustmentDataUndecodable, "cut off")
        for (asset, code) in [
            (F.unedited, FailureCode.missingVersion),
            (F.foreign(.cannotHandle("no.")), .cannotHandleAdjustmentData),
            (F.foreign(.undecodable(broken)), .adjustmentDataUndecodable),
        ] {
            #expect(#expect(throws: Failure.self) { try plan(asset) }?.code == code)
        }
    }

    // MARK: render, copyEdit

    @Test func `render makes anew what an older engine rendered`() throws {
        let edit = try F.edit(#"{"mode": "render"}"#)
        #expect(
            try task(.again(edit, F.edited(F.sepia(), engine: "minilab/0.0.1"))).recipe
                == F.sepia())
        guard case .unchanged = try EditPlan.again(edit, F.edited(F.sepia())) else {
            Issue.record("expected .unchanged")
            return
        }
    }

    @Test func `render writes the same edit otherwise`() throws {
        let edit = try F.edit(#"{"mode": "render", "output": {"format": "png"}}"#)
        let task = try task(.again(edit, F.edited(F.sepia())))
        #expect(task.recipe.output.format == .png)
        #expect(try task.recipe.filters == F.sepia().filters)
    }

    @Test func `a rendered foreign edit keeps its adjustment data as they are`() throws {
        let edit = try F.edit(#"{"mode": "render"}"#)
        let task = try task(.again(edit, F.foreign(.canHandle(F.sepia(1)))))
        #expect(task.keepsAdjustment)
    }

    @Test func `a copied edit scales to the size of this photo`() throws {
        let blur = try Recipe(filters: [Filter("CIGaussianBlur", ["radius": 8])])
        let edit = try F.edit(#"{"mode": "copyEdit", "from": "IMG_0002.JPG"}"#)
        let large = PixelSize(width: 800, height: 600)
        let task = try task(
            .copy(blur, of: large, from: "IMG_0002.JPG@1-1", edit, F.edited(F.sepia())))
        #expect(task.recipe.referenceSize == large)
        #expect(task.copiedFrom == "IMG_0002.JPG@1-1")
        let there = F.edited(try Recipe(filters: [Filter("CIGaussianBlur", ["radius": 4])]))
        #expect(
            try EditPlan.copy(blur, of: large, from: "x", edit, there)
                == .unchanged(EditPlan.alreadyThere))
    }
}
