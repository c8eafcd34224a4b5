import Edits
import Filters
import Foundation
import Testing

@testable import PhotoFiles

@Suite("Rules of gain maps") struct GainMapRulesTests {
    private func outcome(
        _ filters: [Filter], channels: Int = 1, as format: Recipe.Format = .jpeg,
        _ wish: Recipe.HDR = .keep
    ) -> GainMapOutcome {
        GainMapRules.outcome(of: filters, channels: channels, as: format, wish)
    }

    @Test func `every filter says what it means for gains, or its kind does`() {
        let silent = FilterCatalogue.all.filter { definition in
            switch definition.kernel {
            case .generator, .automatic, .sized: false
            default: definition.gain == nil && definition.gainOfKind == nil
            }
        }
        #expect(silent.map(\.name).isEmpty, "without a word the map is left out after them")
    }

    @Test func `the strictest filter decides`() throws {
        let hue = try Filter("CIHueAdjust", ["inputAngle": 1])
        let sepia = try Filter("CISepiaTone")
        let darker = try Filter("CIExposureAdjust", ["inputEV": -1])
        let brighter = try Filter("CIExposureAdjust", ["inputEV": 1])
        let curve = try Filter("CIGammaAdjust", ["inputPower": 0.8])
        let inverted = try Filter("CIColorInvert")
        let turned = try Filter("turn", ["degrees": 90])
        let still = try Filter("CIExposureAdjust", ["inputEV": 0])
        #expect(outcome([]) == .carried)
        #expect(outcome([hue, darker, turned, still]) == .carried)
        #expect(outcome([sepia]) == .kept)
        #expect(outcome([hue, curve]) == .kept)
        #expect(outcome([curve, brighter]) == .recomputed)
        #expect(outcome([brighter, inverted]).reason?.contains("CIColorInvert") == true)
        #expect(outcome([turned], channels: 3) == .carried)
        #expect(outcome([hue], channels: 3) == .recomputed)
    }

    @Test func `a format without maps and a wish drop it`() throws {
        #expect(outcome([], as: .png).reason == "none is written into a png")
        #expect(outcome([], .drop).reason == "edit.output.hdr asks for it")
        #expect(outcome([], .require) == .carried)
    }

    @Test func `an outcome is the same after a way through JSON`() throws {
        for outcome: GainMapOutcome in [.carried, .recomputed, .kept, .dropped(reason: "x")] {
            let bytes = try JSONEncoder().encode(outcome)
            #expect(try JSONDecoder().decode(GainMapOutcome.self, from: bytes) == outcome)
        }
    }
}
