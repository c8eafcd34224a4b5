import Edits
import Editors
import Library
import Testing

@testable import Editing

@Suite("Moves through the history") struct HistoryPlanTests {
    private typealias F = PlanFixture

    private func open(_ version: Provenance?, draft: Provenance? = nil) -> OpenAsset {
        OpenAsset(asset: F.asset, state: AssetState(current: version, draft: draft))
    }

    private func isUnchanged(_ plan: EditPlan) -> Bool {
        if case .unchanged = plan { true } else { false }
    }

    @Test
    func `revert shows the original, whoever made the edit and whether or not it can be read`()
        throws
    {
        for asset in [F.edited(try F.sepia()), F.foreign(.cannotHandle("no."))] {
            #expect(
                EditPlan.revert(asset)
                    == .restore(EditPlan.Restoration(from: nil, timeline: nil)))
        }
        #expect(isUnchanged(EditPlan.revert(F.unedited)))
    }

    @Test func `undo and redo walk along the states and back`() throws {
        let sepia = F.content(try F.sepia())
        let first = F.version(
            "1-1", timeline: Timeline.start.edited(by: VersionName("1-1")!), sepia)
        let second = F.version(
            "2-2", timeline: first.timeline.edited(by: VersionName("2-2")!), parent: "1-1", sepia)
        func find(_ name: String) throws(Failure) -> Provenance? {
            [first, second].first { $0.version == name }
        }
        func move(_ plan: EditPlan, to name: String?) throws -> Timeline {
            guard case .restore(let restoration) = plan, let timeline = restoration.timeline else {
                throw Failure(.internalError, "expected a move, got \(plan)")
            }
            #expect(restoration.from?.version == name)
            return timeline
        }
        var timeline = second.timeline
        func here() -> OpenAsset { open(F.version("9-9", timeline: timeline, sepia)) }

        timeline = try move(.undo(here(), version: find), to: "1-1")
        #expect(timeline.redo == ["2-2"])
        timeline = try move(.undo(here(), version: find), to: nil)
        #expect(timeline.redo == ["1-1", "2-2"])
        #expect(isUnchanged(try EditPlan.undo(here(), version: find)))
        timeline = try move(.redo(here(), version: find), to: "1-1")
        timeline = try move(.redo(here(), version: find), to: "2-2")
        #expect(timeline == second.timeline)
        #expect(isUnchanged(try EditPlan.redo(here(), version: find)))
    }

    @Test func `an edit after undo leaves nothing to redo`() throws {
        let undone = Timeline.start.edited(by: VersionName("1-1")!).undone(to: nil)
        #expect(undone.redo == ["1-1"])
        #expect(undone.edited(by: VersionName("3-3")!).redo.isEmpty)
    }

    @Test func `undo of a version that was collected says so`() throws {
        let failure = #expect(throws: Failure.self) {
            try EditPlan.undo(F.edited(F.sepia())) { _ in nil }
        }
        #expect(failure?.code == .missingVersion)
        #expect(failure?.message.contains("1-1") == true)
    }

    @Test func `what can be redone is bounded`() {
        var timeline = Timeline.start
        let states = (1...200).map { revision in
            timeline = timeline.edited(by: VersionName("\(revision)-1")!)
            return timeline
        }
        for target in states.dropLast().reversed() { timeline = timeline.undone(to: target) }
        #expect(timeline.state == "1-1")
        #expect(timeline.redo.first == "2-1")
        #expect(timeline.redo.count == Timeline.redoMax)
    }

    @Test func `a draft is published if what it was made on is still current`() throws {
        let current = F.version("2-2", F.content(try F.sepia()))
        let draft = F.version("3-3", isDraft: true, parent: "2-2", F.content(try F.sepia(0.1)))
        #expect(
            try EditPlan.publish(nil, open(current, draft: draft))
                == .restore(EditPlan.Restoration(from: draft, timeline: nil)))
        #expect(
            try EditPlan.publish("3-3", open(current, draft: draft))
                == EditPlan.publish(nil, open(current, draft: draft)))
        let other = #expect(throws: Failure.self) {
            try EditPlan.publish("3-4", open(current, draft: draft))
        }
        #expect(other?.code == .missingDraft)
        #expect(other?.message.contains("has the draft 3-3, not 3-4. Publish that one") == true)
        let none = #expect(throws: Failure.self) { try EditPlan.publish(nil, open(current)) }
        #expect(none?.code == .missingDraft)
        #expect(none?.message.contains(#"An edit with "draft": true makes one."#) == true)
        let newer = F.version("3-9", F.content(try F.sepia()))
        let stale = #expect(throws: Failure.self) {
            try EditPlan.publish(nil, open(newer, draft: draft))
        }
        #expect(stale?.code == .staleDraft)
    }

    @Test func `a draft is discarded by its name, or whichever it is`() throws {
        #expect(try EditPlan.removeDraft(nil) == .discard(nil))
        #expect(try EditPlan.removeDraft("3-3") == .discard(VersionName("3-3")!))
        let failure = #expect(throws: Failure.self) { try EditPlan.removeDraft("three") }
        #expect(failure?.code == .invalidValue)
    }
}
