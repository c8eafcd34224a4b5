import Edits
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

@Suite("Control characters in names") struct ControlCharacterTests {
    @Test(arguments: [
        "\u{1b}[31mRED\nFAKE LINE", "a\u{9b}31m", "a\u{80}", "a\u{7f}b", "a\tb", "a\0b",
    ])
    func `an asset with one dies at admission, whatever its edit`(asset: String) async throws {
        let q = try await QueueFixture()
        try await q.xadd(["id": "bad", "asset": asset, "edit": "not even JSON"])
        try await q.xadd([
            "id": "next", "asset": "می\u{200c}خواهم.jpg", "edit": QueueFixture.recipe,
        ])
        _ = try await q.queue.admit()
        let dead = try #require(try await q.queue.record(of: "bad"))
        #expect(dead.state == .dead && dead.code == .invalidValue)
        #expect(dead.message?.contains("has a control character") == true)
        #expect(dead.message?.hasControls == false)
        #expect(try await q.claim().job == "next")
    }

    @Test(arguments: [
        "Scherm\u{ad}afbeelding.png", "\u{200f}\u{5e6}.png", "photo\u{200b}name.png",
        "gpj.\u{202e}exe",
        "\u{1f3f4}\u{e0067}\u{e007f}.png", "a\u{2028}b", "caf\u{e9}", "cafe\u{301}", "\u{a0}",
    ])
    func `an asset with another character that cannot be seen is admitted`(asset: String)
        async throws
    {
        let q = try await QueueFixture()
        try await q.xadd(["id": "good", "asset": asset, "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        let claim = try await q.claim()
        #expect(claim.job == "good" && claim.asset.utf8.elementsEqual(asset.utf8))
    }

    @Test func `the scripts refuse the same characters as the worker, of all that there are`()
        async throws
    {
        let q = try await QueueFixture()
        let script = QueueScript.script(
            "controls",
            Array(
                """
                local function utf8(c)
                  if c < 0x80 then return string.char(c) end
                  if c < 0x800 then return string.char(0xC0 + math.floor(c / 64), 0x80 + c % 64) end
                  if c < 0x10000 then
                    return string.char(0xE0 + math.floor(c / 4096), 0x80 + math.floor(c / 64) % 64, 0x80 + c % 64)
                  end
                  return string.char(0xF0 + math.floor(c / 262144), 0x80 + math.floor(c / 4096) % 64,
                    0x80 + math.floor(c / 64) % 64, 0x80 + c % 64)
                end
                local found = {}
                for c = tonumber(ARGV[1]), tonumber(ARGV[2]) do
                  if (c < 0xD800 or c > 0xDFFF) and has_controls(utf8(c)) then found[#found + 1] = c end
                end
                return found
                """.utf8))
        // A few at a time: other tests use the server, too.
        let step = 0x1000
        var found: [Int64] = []
        for first in stride(from: 0, to: 0x110000, by: step) {
            let reply = try await q.redis.run(
                script, keys: ["any"],
                arguments: [RedisArgument(first), RedisArgument(first + step - 1)])
            found += reply.array?.compactMap(\.int) ?? []
        }
        let expected = (0...0x10FFFF).compactMap(Unicode.Scalar.init(_:))
            .filter { $0.properties.generalCategory == .control }
        #expect(found == expected.map { Int64($0.value) })
    }
}
