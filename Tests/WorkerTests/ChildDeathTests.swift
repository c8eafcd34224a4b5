import Edits
import Files
import FoundationEssentials
import Glibc
import JobQueue
import Logging
import MinilabTesting
import RenderProtocol
import Synchronization
import SystemPackage
import Telemetry
import Testing

@testable import Editing
@testable import RenderPool
@testable import Worker

/// Real render children that die, each for another reason, and what becomes of it.
@Suite("Deaths of render children", .timeLimit(.minutes(10))) struct ChildDeathTests {
    /// How children ended.
    private final class Ends: Sendable {
        private let ends = Mutex<[String]>([])

        /// Their causes, as metrics name them.
        var all: [String] { ends.withLock { $0 } }

        var metrics: RenderMetrics {
            RenderMetrics(
                Metrics { [self] metric, _, labels in
                    if metric == "minilab_child_ends_total" { ends.withLock { $0 += labels } }
                })
        }
    }

    /// A worker's pool whose children perform an attack instead of rendering.
    private struct Place {
        let folder: TemporaryFolder
        let photo: String
        let pool: RenderPool
        let ends = Ends()

        init(_ attack: TestAttack, memory: Int? = nil) throws {
            ignoreBrokenPipes()
            folder = try TemporaryFolder()
            photo = folder.file("in.png")
            try SyntheticPhoto.png(width: 64, height: 48).write(to: URL(filePath: photo))
            let real = try Programs.path(of: "minilab-hostile-child")
            let child = try folder.script(
                "child", "\(TestAttack.variable)=\(attack.rawValue) exec '\(real)' \"$@\"")
            guard mkdir(folder.file("results"), 0o755) == 0 else { throw Errno(rawValue: errno) }
            var settings = RenderSettings(executable: FilePath(child))
            settings.memoryMax = memory
            if memory != nil { try settings.boundMemory() }
            pool = RenderPool(
                settings: settings, logger: Logger(label: "test"), metrics: ends.metrics)
        }

        func render() async throws {
            let results = folder.file("results")
            try await pool.render(
                PhotoRequest(
                    recipe: try Recipe(filters: [Filter("CISepiaTone")]), limits: RenderLimits()),
                RenderFiles(
                    sources: [try OpenFile(reading: photo)],
                    outputs: [try .nameless(in: results, name: "out")],
                    spool: try .nameless(in: results, name: "spool")), for: Borrower(.operator)
            ) { _, _ in }
        }
    }

    @Test(arguments: [
        (TestAttack.exhaustSwift, FailureCode.outOfMemory, Int?.none),
        (.exhaustGLib, .outOfMemory, nil), (.exhaustCPlusPlus, .outOfMemory, nil),
        (.spinInHeader, .renderTimedOut, Int(SIGXCPU)), (.fillDisk, .noSpace, Int(SIGXFSZ)),
        (.growFile, .noSpace, Int(SIGXFSZ)),
        (.abort, .renderCrashed, Int(SIGABRT)),
    ])
    func `each death of a real child is told apart`(
        attack: TestAttack, code: FailureCode, signal: Int?
    ) async throws {
        let place = try Place(attack)
        let failure = await #expect(throws: Failure.self) { try await place.render() }
        #expect(failure?.code == code, "\(String(describing: failure))")
        #expect(failure?.signal == signal)
        // Only the queue knows whether attempts are left.
        #expect(
            failure.map { $0.message.contains("retried") || $0.message.contains("tried again") }
                == false)
        await place.pool.close()
    }

    @Test
    func
        `a child that takes far more memory than its photo needs is ended, and its owner at fault`()
        async throws
    {
        let place = try Place(.takeMemory)
        let failure = await #expect(throws: Failure.self) { try await place.render() }
        #expect(failure?.code == .untrustedRender, "\(String(describing: failure))")
        #expect(failure?.message.contains("of memory; its request may take") == true)
        #expect(place.pool.atFault.has(.operator))
        #expect(place.pool.atFault.kills == 0)
        await place.pool.close()
    }

    @Test func `a child that may have less memory than it takes does not get it`() async throws {
        let place = try Place(.takeMemory, memory: 128 << 20)
        let failure = await #expect(throws: Failure.self) { try await place.render() }
        #expect(failure?.code == .ioFailure, "\(String(describing: failure))")
        #expect(failure?.message.contains("Cannot allocate memory") == true)
        await place.pool.close()
    }

    @Test func `a real child that is denied a file says so and is not used again`() async throws {
        let place = try Place(.readPasswd)
        let confinement = try await place.pool.lend(to: nil) { child in
            try await child.confinement()
        }
        guard confinement.has(.files) else { return }
        let failure = await #expect(throws: Failure.self) { try await place.render() }
        #expect(failure?.code == .ioFailure)
        // Where the kernel grants an empty root, there is no such file.
        #expect(
            failure.map { $0.message.contains("ermission") || $0.message.contains("No such file") }
                == true)
        #expect(await place.pool.idle.isEmpty)
        await place.pool.close()
    }

    @Test(arguments: [TestAttack.keepFile, .makeThreads])
    func `a child that holds more than a render needs is ended, whatever it answered`(
        attack: TestAttack
    ) async throws {
        let place = try Place(attack)
        do {
            try await place.render()
        } catch let failure as Failure {
            // Threads are counted during a request, too.
            #expect([.untrustedRender, .renderCrashed].contains(failure.code))
        }
        #expect(await place.pool.idle.isEmpty)
        switch place.ends.all.last {
        case "untrusted"?: break
        // Beside the children of other tests, the kernel may refuse the threads first.
        case "SIGABRT"? where attack == .makeThreads: break
        default: Issue.record("\(place.ends.all)")
        }
        await place.pool.close()
    }

    @Test
    func
        `a child that answered is stopped until its next request, and none is kept for its files or threads`()
        async throws
    {
        let place = try Place(.crashInWebP)
        for _ in 0..<3 {
            try await place.render()
            let child = try #require(await place.pool.idle.first?.process)
            let pid = try #require(child.pid)
            try await RenderChildTests.waitForState("T", of: pid)
        }
        #expect(place.ends.all.isEmpty)
        await place.pool.close()
        #expect(place.ends.all == ["finished"])
    }

    @Test func `a child whose threads cannot be counted is not started`() async throws {
        let folder = try TemporaryFolder()
        let child = RenderProcess(
            executable: FilePath(try folder.script("child", "read line")),
            logger: Logger(label: "test"), status: { _ in nil })
        let reason = await child.waitForStart()
        #expect(reason?.contains("/status cannot be opened") == true)
        await child.wait()
        #expect(child.pid == nil && !child.isAlive)
    }

    @Test func `what cannot be counted of a child is not taken for little`() async throws {
        let folder = try TemporaryFolder()
        let child = RenderProcess(
            executable: FilePath(try folder.script("child", "read line")),
            logger: Logger(label: "test"))
        _ = await child.waitForStart()
        let pid = try #require(child.pid)
        let status = try #require(ProcessStatus("\(pid)"))
        #expect(ChildExcess.threads(status) == nil)
        #expect(ChildExcess.files(of: pid, among: []) == nil)
        let files = ChildExcess.files(
            of: pid, among: [],
            list: { _ throws(Failure) in throw Failure(.ioFailure, "Too many open files.") })
        #expect(files == "its open files cannot be listed: Too many open files.")
        child.kill(because: .cancelled)
        await child.wait()
        #expect(ChildExcess.threads(status) == nil)
    }

    @Test(arguments: [
        (ChildDeath(signal: SIGKILL, forMemory: true), FailureCode.outOfMemory, "by the kernel"),
        (ChildDeath(signal: SIGKILL, forMemory: false), .renderCrashed, "by another process"),
        (ChildDeath(signal: SIGKILL, forMemory: nil), .outOfMemory, "or by another process"),
        (ChildDeath(signal: SIGSYS, forMemory: false), .renderCrashed, "attack"),
        (ChildDeath(signal: SIGXCPU, forMemory: nil), .renderTimedOut, "does not come to an end"),
        (ChildDeath(signal: SIGXFSZ, forMemory: nil), .noSpace, "longer than the photo can need"),
        (ChildDeath(signal: SIGSEGV, forMemory: nil), .renderCrashed, "signal 11"),
        (.untrusted("a lie"), .untrustedRender, "a lie"),
        (ChildDeath(exitCode: 71), .outOfMemory, "exit code 71"),
        (ChildDeath(exitCode: 3), .renderCrashed, "exit code 3"),
    ])
    func `what a process ended with says what it means for the job`(
        death: ChildDeath, code: FailureCode, words: String
    ) {
        let failure = death.failure(lastOutput: "")
        #expect(failure.code == code)
        #expect(failure.message.contains(words), "\(failure)")
    }

    @Test(arguments: [true, false])
    func `a child that is killed since nobody wants its answer says whether the lease was lost`(
        isLost: Bool
    ) async throws {
        let folder = try TemporaryFolder()
        let script = try folder.script("child", "read line; echo . > \"$0.reads\"; exec sleep 600")
        let ends = Ends()
        let pool = RenderPool(
            settings: RenderSettings(executable: FilePath(script)), logger: Logger(label: "test"),
            metrics: ends.metrics)
        let hold = HeldJob()
        let work = Task {
            try await hold.whileHeld {
                try await pool.lend(to: Borrower(.operator) { hold.isLost }) { child in
                    try await child.draw(ScriptedReply.sheet, RenderFiles())
                }
            }
        }
        try await eventually("the child works") {
            access(folder.file("child.reads"), F_OK) == 0 ? () : nil
        }
        hold.end(isLost ? .lost : .cancelled)
        await #expect(throws: CancellationError.self) { try await work.value }
        #expect(ends.all == [isLost ? "lost_lease" : "cancelled"])
    }
}
