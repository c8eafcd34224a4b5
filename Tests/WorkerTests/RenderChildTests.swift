import Edits
import FoundationEssentials
import Glibc
import Logging
import MinilabTesting
import RenderProtocol
import SystemPackage
import Testing

@testable import RenderPool

@Suite("Render child") struct RenderChildTests {
    /// A child that a shell script plays: a real process that dies real deaths.
    private struct Script {
        let folder: TemporaryFolder
        let path: FilePath

        init(_ lines: String) throws {
            ignoreBrokenPipes()
            folder = try TemporaryFolder()
            path = FilePath(try folder.script("child", lines))
        }
    }

    private static let rendered = ScriptedReply.rendered
    private let request = RenderRequest.Work.contactSheet(ScriptedReply.sheet)

    private func ask(_ lines: String, timeout: Duration = .seconds(300)) async throws {
        let script = try Script(lines)
        let child = RenderProcess(executable: script.path, logger: Logger(label: "test"))
        defer { child.kill(because: .cancelled) }
        _ = try await child.ask(request, RenderFiles(), timeout: timeout)
    }

    @Test func `an answer is given to whom it belongs`() async throws {
        try await ask("read line; \(Self.rendered)")
    }

    /// Somebody, since the kernel says that it has killed none; where it says nothing it may have been the kernel.
    private static let killed: FailureCode =
        RenderProcess.killsForMemory() == nil ? .outOfMemory : .renderCrashed

    @Test(arguments: [
        ("read line; kill -SEGV $$", FailureCode.renderCrashed, "signal 11"),
        ("read line; kill -ABRT $$", .renderCrashed, "signal 6"),
        ("read line; kill -KILL $$", Self.killed, "signal 9"),
        ("read line; kill -XCPU $$", .renderTimedOut, "signal 24"),
        ("read line; kill -XFSZ $$", .noSpace, "signal 25"),
        ("read line; kill -SYS $$", .renderCrashed, "signal 31"),
        ("read line; exit 71", .outOfMemory, "exit code 71"),
        ("read line; exit 3", .renderCrashed, "exit code 3"),
        ("read line; exit 0", .renderCrashed, "exit code 0"),
        ("read line; echo 'out of cheese' >&2; exit 3", .renderCrashed, "out of cheese"),
    ])
    func `each death is told apart`(lines: String, code: FailureCode, words: String) async throws {
        let failure = await #expect(throws: Failure.self) { try await ask(lines) }
        #expect(failure?.code == code)
        #expect(failure?.message.contains(words) == true)
    }

    @Test func `the kernel takes a child before its worker from the child's start on`() async throws
    {
        let script = try Script(
            "read line; cat /proc/$$/oom_score_adj > \"$0.score\"; \(Self.rendered)")
        let child = RenderProcess(executable: script.path, logger: Logger(label: "test"))
        defer { child.kill(because: .cancelled) }
        _ = try await child.ask(request, RenderFiles(), timeout: .seconds(300))
        let score = try String(contentsOfFile: script.folder.file("child.score"), encoding: .utf8)
        #expect(score == "1000\n")
    }

    @Test func `a render that takes too long is killed and said to be`() async throws {
        let failure = await #expect(throws: Failure.self) {
            try await ask("read line; exec sleep 600", timeout: .milliseconds(200))
        }
        #expect(failure?.code == .renderTimedOut)
    }

    @Test func `a child that cannot be started is our fault and says what to do`() async throws {
        let child = RenderProcess(executable: "/nowhere/minilab-render", logger: Logger(label: "t"))
        let failure = await #expect(throws: Failure.self) {
            try await child.ask(request, RenderFiles(), timeout: .seconds(5))
        }
        #expect(failure?.code == .rendererUnavailable)
        #expect(failure?.message.contains("installed") == true)
    }

    @Test func `cancelling kills the process at once`() async throws {
        let script = try Script("echo $$ > \"$0.pid\"; read line; exec sleep 600")
        let child = RenderProcess(executable: script.path, logger: Logger(label: "test"))
        let asking = Task { try await child.ask(request, RenderFiles(), timeout: .seconds(300)) }
        let pid = try await Self.pid(in: script.folder.file("child.pid"))
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
        await child.wait()
        #expect(Glibc.kill(pid, 0) != 0)
    }

    @Test func `a child stands still when it is told to, runs on, and answers`() async throws {
        let script = try Script(
            "echo $$ > \"$0.pid\"; read line; while [ ! -e \"$0.go\" ]; do sleep 0.01; done; "
                + "\(Self.rendered)")
        let child = RenderProcess(executable: script.path, logger: Logger(label: "test"))
        let asking = Task { try await child.ask(request, RenderFiles(), timeout: .seconds(300)) }
        let pid = try await Self.pid(in: script.folder.file("child.pid"))
        child.pause()
        try await Self.waitForState("T", of: pid)
        try Data().write(to: URL(filePath: script.folder.file("child.go")))
        child.pause()
        child.resume()
        child.resume()
        guard case .rendered = try await asking.value.content else {
            Issue.record("another answer")
            return
        }
        child.kill(because: .cancelled)
    }

    @Test func `a child that stands still can be killed`() async throws {
        let script = try Script("echo $$ > \"$0.pid\"; read line; exec sleep 600")
        let child = RenderProcess(executable: script.path, logger: Logger(label: "test"))
        let asking = Task { try await child.ask(request, RenderFiles(), timeout: .seconds(300)) }
        let pid = try await Self.pid(in: script.folder.file("child.pid"))
        child.pause()
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
        await child.wait()
        #expect(Glibc.kill(pid, 0) != 0)
        // Told too late: nobody is there any more.
        child.pause()
        child.resume()
    }

    @Test func `a child that died idle is not asked again`() async throws {
        let script = try Script("while read line; do \(Self.rendered); done")
        var settings = RenderSettings(executable: script.path)
        settings.slots = 1
        let pool = RenderPool(settings: settings, logger: Logger(label: "test"))
        try await pool.draw(ScriptedReply.sheet, RenderFiles())
        let pid = try #require(await pool.idle.first?.process.pid)
        #expect(Glibc.kill(pid, SIGKILL) == 0)
        await pool.waitForIdleDeath()
        try await pool.draw(ScriptedReply.sheet, RenderFiles())
        await pool.close()
    }

    @Test func `a child is used again and replaced after its number of photos`() async throws {
        let script = try Script(
            "echo $$ >> \"$0.pids\"; while read line; do \(Self.rendered); done")
        var settings = RenderSettings(executable: script.path)
        settings.photosPerChild = 3
        let pool = RenderPool(settings: settings, logger: Logger(label: "test"))
        for _ in 0..<7 {
            try await pool.draw(ScriptedReply.sheet, RenderFiles())
        }
        await pool.close()
        let pids = script.folder.text(of: "child.pids").split(separator: "\n")
        #expect(pids.count == 3)
        #expect(Set(pids).count == 3)
    }

    /// Waits until a process is in a state: it stops when it is its turn, and not when it is told.
    static func waitForState(_ state: Character, of pid: pid_t) async throws {
        try await eventually("process \(pid) is \(state)") {
            Self.state(of: pid) == state ? () : nil
        }
    }

    /// As the kernel tells it: `T` when it stands still; nil when it is gone.
    static func state(of pid: pid_t) -> Character? {
        // Gone is an answer.
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let close = stat.lastIndex(of: ")")
        else { return nil }
        return stat[close...].dropFirst(2).first
    }

    private static func pid(in path: String) async throws -> pid_t {
        try await eventually("the script writes its pid") {
            // The file does not exist before.
            guard let text = try? String(contentsOfFile: path, encoding: .utf8),
                text.hasSuffix("\n")
            else { return nil }
            return pid_t(text.dropLast())
        }
    }
}

extension RenderPool {
    /// Waits until the processes of all idle children have ended by themselves.
    func waitForIdleDeath() async {
        for warm in idle { await warm.process.wait() }
    }
}
