import AccessKeys
import Edits
import Testing

@testable import Gateway

@Suite("The border of edits") struct EditBorderTests {
    @Test func `an edit that was checked is remembered by its digest, whatever its length`()
        async throws
    {
        let rig = try await GatewayRig()
        let text = try await rig.key("acme", scopes: [.enqueue])
        var border = EditBorder(try await rig.parts.keys.authenticate(text))
        let spaces = String(repeating: " ", count: 10_000)
        for number in 1...50 {
            let filter = #"{"name":"CISepiaTone","inputIntensity":0.\#(number)}"#
            let edit = #"{"filters":[\#(filter)]\#(spaces)}"#
            try border.check(edit)
            try border.check(edit)
        }
        let kept = Mirror(reflecting: border).children.compactMap { $0.value as? Set<[UInt8]> }
        #expect(kept.map(\.count) == [50])
        #expect(kept.joined().allSatisfy { $0.count == SHA256.byteCount })
        // Once more is refused as the first time.
        for _ in 0..<2 {
            #expect(throws: Problem.self) {
                try border.check(#"{"mode":"copyEdit","from":"globex/a.jpg"}"#)
            }
        }
    }
}
