import Foundation
import MinilabTesting
import Editors
import Testing

@Suite("Property lists, damaged at random") struct MutationTests {
    private static let rounds = 5_000

    @Test func `a damaged list is read or refused, and never more`() throws {
        var random = SeededGenerator()
        random.printSeed()
        let list =
            #"{"a": [1, 2.5, "é", b"x" * 20, {"b": True}], "c": datetime.datetime(2019, 12, 1)}"#
        let originals = [
            try plistlib(list, "BINARY"), try plistlib(list, "XML"),
            KeyedArchive.bytes(ofRoot: "CISepiaTone"),
        ]
        var refused = 0
        for round in 0..<Self.rounds {
            var bytes = originals[round % originals.count]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 2: bytes.remove(at: index)
                default:
                    bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: index)
                }
            }
            do {
                _ = try PropertyList(bytes: bytes)
                _ = try KeyedArchive.root(of: bytes)
            } catch {
                refused += 1
            }
        }
        #expect(refused > Self.rounds / 2)
    }
}
