import Edits
import Foundation
import Logging
import Testing

@testable import JobQueue
@testable import Telemetry

@Suite("Lines of a log") struct LogLineTests {
    private let forged =
        "\u{1b}[31mRED\n2026-01-01T00:00:00.000Z info FAKE LINE \u{9b}2J \u{202e}gpj"

    private func line(_ message: String, _ metadata: Logger.Metadata) -> String {
        TextLogHandler.line(
            LogEvent(
                level: .warning, message: "\(message)", metadata: metadata, source: "test",
                file: #fileID, function: #function, line: #line),
            [:], .job)
    }

    @Test func `an asset, an error and a message cannot forge a line or steer a terminal`() {
        let text = LoggedJob.$current.withValue(LoggedJob(claim(asset: forged))) {
            line("attempt failed: \(forged)", ["error": "\(forged)"])
        }
        #expect(!text.hasControls, "\(text)")
        #expect(text.contains(#"asset=\u{1B}[31mRED\n2026-01-01"#))
        #expect(text.contains(#"\u{9B}2J \u{202E}gpj"#))
    }

    @Test func `a line of JSON holds no control character and says the same`() throws {
        let text = JSONLogHandler.line(["asset": forged])
        #expect(!text.hasControls, "\(text)")
        let fields = try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
        #expect(fields == ["asset": forged])
    }

    private func claim(asset: String) -> CarriedJob {
        CarriedJob(
            version: CommittedVersion(job: "j", generation: 1, fence: "1", name: "v", asset: asset),
            carries: 0, arrival: 0)
    }
}
