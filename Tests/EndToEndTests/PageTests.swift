import Edits
import Foundation
import JobQueue
import MinilabTesting
import Testing

@Suite("The commands on our pages") struct PageTests {
    @Test func `each command of jobs/PHOTOKIT.md does what the page says was seen`() async throws {
        let rig = try await Rig()
        let root = Contract.folder.deletingLastPathComponent()
        for (name, place) in [
            ("jobs", root.appending(path: "jobs").path), ("lab", rig.library),
            ("Tests", root.appending(path: "Tests").path),
        ] {
            try FileManager.default.createSymbolicLink(
                atPath: rig.folder.file(name), withDestinationPath: place)
        }
        let worker = try rig.worker("w")
        let commands = try Page("jobs/PHOTOKIT.md").commands
        try #require(commands.contains { $0.edit != nil })
        var jobs = 0
        for command in commands {
            let printed = try rig.run(command.text)
            if command.edit != nil {
                jobs += 1
                let event = try #require(try await rig.waitForEnds(jobs).last)
                #expect([event.inShort] == command.seen, "\(command) \(worker.output)")
            } else if !command.seen.isEmpty {
                #expect(printed == command.seen, "\(command)")
            }
        }
        worker.kill(SIGTERM)
        _ = try await worker.waitForEnd()
    }

    /// The blocks that a reader of the README pastes, on a Redis of our own and in a folder with nothing but `jobs` and what `ops/quickstart` leaves.
    @Test(arguments: ["minilab library create", "minilab render"])
    func `a block of the README can be pasted whole`(beginning: String) async throws {
        let rig = try await Rig()
        let jobs = Contract.folder.path
        try FileManager.default.createSymbolicLink(
            atPath: rig.folder.file("jobs"), withDestinationPath: jobs)
        try FileManager.default.createDirectory(
            atPath: rig.folder.file("minilab-run"), withIntermediateDirectories: false)
        // The reader's Redis has no users, and ours has: each command logs in as the user that it is for. The shell writes the
        // program: a file that this process writes is busy while another test starts a process.
        let program = try Programs.path(of: "minilab")
        let block = try #require(
            try Page("README.md").blocks("sh").first { $0.hasPrefix(beginning) })
        let output = try Tool.run(
            "/bin/bash",
            [
                "-c",
                """
                set -euo pipefail
                cd '\(rig.folder.path)'
                mkdir bin
                cat >bin/minilab <<'PROGRAM'
                #!/bin/bash
                case "$1" in worker) user=worker ;; *) user=operator ;; esac
                export MINILAB_REDIS=\(rig.server.url(as: nil)) MINILAB_REDIS_USER=$user
                export MINILAB_REDIS_PASSWORD_FILE=\(rig.server.folder.path)/$user
                exec \(program) "$@"
                PROGRAM
                chmod +x bin/minilab
                PATH="$PWD/bin:$PATH"
                \(block)
                wait
                """,
            ])
        let printed = String(decoding: output, as: UTF8.self)
        if beginning == "minilab library create" {
            #expect(printed.contains(" done, 0 dead, 0 cancelled"), "\(printed)")
            #expect(printed.contains("tulips.AAE\ntulips.jpg\n"), "\(printed)")
        } else {
            #expect(
                FileManager.default.fileExists(atPath: rig.folder.file("minilab-run/sepia.jpg")))
            #expect(printed.contains("contact.jpg: 3 pictures"), "\(printed)")
        }
    }
}

extension Rig {
    /// Runs a command in a shell, as a reader of a page would.
    ///
    /// - Returns: the lines that it printed.
    fileprivate func run(_ command: String) throws -> [String] {
        let script = """
            set -e
            cd '\(folder.path)'
            PATH="\(Programs.folder.path):$PATH"
            export REDISCLI_AUTH=\(RedisUser.producer.password)
            redis-cli() { command redis-cli -p \(server.port) --user producer "$@"; }
            \(command)
            """
        let output = try Tool.run("/bin/bash", ["-c", script])
        return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

extension JobEvent {
    /// How a page tells an event in a line.
    fileprivate var inShort: String {
        switch data {
        case .completed(let job): "completed \(job.version.revision): \(job.inShort)"
        case .drafted(let job): "drafted \(job.version.revision): \(job.inShort)"
        case .rendered(let job): "rendered: \(job.renditions.count)"
        case .unchanged(let job): "unchanged: \(job.reason)"
        case .superseded(let job): "superseded: \(job.reason)"
        case .failed(let job): "failed: \(job.error.code.rawValue)"
        case .stuck(let job): "stuck: \(job.error.code.rawValue)"
        case .cancelled(let job): "cancelled: \(job.reason)"
        case .previewed, .progressed, .retried, .conflict, .batchCompleted, .batchConflict,
            .batchSealed, .streamHarmed:
            type
        }
    }
}

extension JobEvent.Completed {
    fileprivate var inShort: String {
        guard let render = more.render else { return "the original" }
        let what = more.filters?.map(\.name).joined(separator: ", ") ?? "as its editor rendered it"
        return "\(what), \(render.size.width) × \(render.size.height)"
    }
}
