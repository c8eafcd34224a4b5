import Edits
import Foundation
import JobQueue
import MinilabTesting
import Testing

@Suite("Names of strangers on a terminal") struct HostileTextTests {
    private static let asset = "\u{1b}[31mRED\nFAKE LINE \u{9b}2J\u{202e}gpj.exe"

    /// What a command writes to a terminal of its own.
    private func onTerminal(_ arguments: [String]) throws -> String {
        let words = [try Programs.path(of: "minilab")] + arguments
        let command = words.map { "'\($0)'" }.joined(separator: " ")
        // `script` runs a command on a pseudo-terminal; it is part of every Debian (bsdutils).
        let bytes = try Tool.run(
            "/usr/bin/script", ["--quiet", "--command", command, "/dev/null"])
        return String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
    }

    @Test func `no command that prints a job's asset lets it colour, move or forge anything`()
        async throws
    {
        let rig = try await Rig()
        try await rig.xadd(Self.asset, id: "bad")
        _ = try await rig.queue.admit()
        for command in [
            ["dead"], ["status", "bad"], ["explain", "bad"], ["events"], ["events", "--json"],
            ["dead", "--json"], ["status", "bad", "--json"], ["explain", "bad", "--json"],
        ] {
            let text = try onTerminal(command + rig.server.flags(as: .operator))
            let lines = text.split(separator: "\n")
            #expect(!text.replacing("\n", with: "").hasControls, "\(command): \(text)")
            #expect(!lines.contains { $0.hasPrefix("FAKE") }, "\(command): \(text)")
            #expect(text.contains("FAKE LINE"), "\(command): \(text)")
        }
    }

    @Test func `an error of the command line shows an argument escaped`() async throws {
        let (ending, output) = try await MinilabProcess.run(["plan", "/no\u{1b}[31m\u{202e}where"])
        #expect(ending != .exited(0))
        #expect(!output.replacing("\n", with: "").hasControls, "\(output)")
        #expect(output.contains(#"\u{1B}"#))
    }
}
