import Edits
import Foundation
import MinilabTesting
import RenderProtocol
import Testing

@testable import JobQueue

/// The limits as an operator sets them.
@Suite("Limits") struct LimitTests {
    private static let commands = ["worker", "run", "render", "plan", "preview", "contact"]

    @Test(arguments: commands) func `every command that reads photos has a flag for each limit`(
        _ command: String
    ) async throws {
        let (_, lines) = try await MinilabProcess.run([command, "--help"])
        let help = lines.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for limit in RenderLimit.allCases {
            #expect(help.contains(limit.flag + " "), "\(limit)")
            let usual = RenderLimits()[keyPath: limit.field]
            let written = [("G", 30), ("M", 20)].first {
                usual >= 1 << $0.1 && usual % (1 << $0.1) == 0
            }
            let text = written.map { "\(usual >> $0.1)\($0.0)" } ?? "\(usual)"
            #expect(help.contains("(default: \(text))"), "\(limit)")
        }
    }

    @Test func `a flag, the environment and a settings file set a limit`() async throws {
        let folder = try TemporaryFolder()
        let photo = folder.file("a.png")
        try SyntheticPhoto.png(width: 40, height: 30).write(to: URL(filePath: photo))
        let plan = ["plan", photo, "--filter", "CISepiaTone"]
        let (ending, output) = try await MinilabProcess.run(plan)
        #expect(ending == .exited(0), "\(output)")
        for (arguments, environment) in [
            (plan + ["--limit-side", "39"], [:]),
            (plan, ["MINILAB_LIMIT_SIDE": "39"]),
        ] {
            let (ending, output) = try await MinilabProcess.run(arguments, environment: environment)
            #expect(ending != .exited(0))
            #expect(output.contains("exceedsLimit") && output.contains("limit.side allows 39"))
        }
        for command in [
            ["preview", photo, folder.file("p.jpg"), "--filter", "CISepiaTone"],
            ["render", photo, folder.file("r.jpg"), "--filter", "CISepiaTone"],
            ["contact", photo, folder.file("c.jpg"), "--filters", "CISepiaTone"],
        ] {
            let (ending, output) = try await MinilabProcess.run(command + ["--limit-bytes", "50"])
            #expect(ending != .exited(0))
            #expect(output.contains("limit.bytes allows 50"), "\(command[0]): \(output)")
        }
    }

    @Test
    func `a worker refuses what is beyond a limit of its settings file, and does not try again`()
        async throws
    {
        let rig = try await Rig()
        let settings = rig.folder.file("settings.json")
        try Data(#"{"limit": {"frames": 5}}"#.utf8).write(to: URL(filePath: settings))
        try rig.put("a.gif", Data(Bomb.frames.bytes))
        try await rig.xadd("a.gif", edit: #"{"filters":[{"name":"CISepiaTone"}]}"#)
        let worker = try rig.worker("w", flags: ["--settings", settings])
        let ends = try await rig.waitForEnds(1)
        guard case .failed(let failed) = ends[0].data else {
            Issue.record("\(ends)")
            return
        }
        #expect(failed.error.code == .exceedsLimit)
        #expect(failed.error.message.contains("6 frames or more; limit.frames allows 5"))
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
    }
}
