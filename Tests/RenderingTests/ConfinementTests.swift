import Edits
import Files
import Foundation
import MinilabTesting
import RenderProtocol
import Testing
import Codecs

@testable import Rendering
@testable import Sandbox

/// What a photo could do that has taken over the decoder: real children try it.
@Suite("Confinement of the render child", .timeLimit(.minutes(10))) struct ConfinementTests {
    /// A photo, and a folder for results beside its own.
    private struct Fixture {
        let studio: Studio
        let photo: String
        let results: String

        init() throws {
            studio = try Studio()
            results = studio.path("results")
            try FileManager.default.createDirectory(
                atPath: studio.path("photos"), withIntermediateDirectories: true)
            try FileManager.default.createDirectory(
                atPath: results, withIntermediateDirectories: true)
            photo = studio.path("photos/in.jpg")
            try TestPicture.image(width: 120, height: 90).writeJPEG(
                to: photo, quality: 90, chroma: .on)
        }

        func child(
            _ attack: TestAttack? = nil, _ environment: [String: String] = [:]
        ) throws -> Child {
            try Child(
                environment: environment.merging(
                    attack.map { [TestAttack.variable: $0.rawValue] } ?? [:]
                ) { $1 },
                executable: attack == nil ? "minilab-render" : "minilab-hostile-child")
        }

        var result: String { results + "/out" }

        func render(_ recipe: Recipe? = nil) throws -> Order {
            try .render(photo, recipe, to: result)
        }
    }

    /// The measures that this kernel offers. A child that cannot be asked is nil here, and fails the first test, which requires it.
    private static let confinement: Confinement? = {
        guard let fixture = try? Fixture(), let child = try? fixture.child(),
            case .confined(let confinement) = try? child.ask(.confinement)
        else { return nil }
        return confinement
    }()

    @Test func `a child says what keeps it from doing harm`() throws {
        let confinement = try #require(Self.confinement)
        for gap in confinement.gaps { print("not in force here: \(gap.measure), \(gap.reason)") }
        #expect(confinement.has(.process) && confinement.has(.privileges))
    }

    @Test(arguments: [
        (TestAttack.readPasswd, Confinement.Measure.files), (.writeBesidePhoto, .files),
        (.removePhoto, .files), (.changeMode, .calls), (.linkPhoto, .calls), (.fork, .calls),
        (.signalWorker, .calls), (.limitWorker, .calls),
    ])
    func `what a child has no use for is denied, and it lives`(
        attack: TestAttack, measure: Confinement.Measure
    ) throws {
        guard try #require(Self.confinement).has(measure) else { return }
        let fixture = try Fixture()
        let child = try fixture.child(attack)
        guard case .failed(let failure) = try child.ask(fixture.render()) else {
            Issue.record("it was done, or the child died")
            return
        }
        #expect(failure.code == .ioFailure, "\(failure)")
        #expect(
            ["ermi", "not implemented", "No such file"].contains(where: failure.message.contains),
            "\(failure)")
        #expect(FileManager.default.fileExists(atPath: fixture.photo))
        guard case .confined = try child.ask(.confinement) else {
            Issue.record("the child does not answer any more")
            return
        }
    }

    @Test(arguments: [TestAttack.exec, .trace, .openSocket, .openLocalSocket])
    func `what only an attacker does ends the child`(attack: TestAttack) async throws {
        guard try #require(Self.confinement).has(.calls) else { return }
        let fixture = try Fixture()
        let child = try fixture.child(attack)
        try child.send(fixture.render())
        #expect(try await child.waitForEnd() == .signal(SIGSYS))
    }

    @Test func `a spool file without a name can be used where results go`() throws {
        let fixture = try Fixture()
        let child = try fixture.child(.useSpool)
        guard case .failed(let failure) = try child.ask(fixture.render()) else {
            Issue.record("no answer")
            return
        }
        #expect(failure.message == "use-spool: done")
    }

    @Test(arguments: [
        (TestAttack.exhaustSwift, ChildEnd.exit(RenderExit.outOfMemory.rawValue)),
        (.exhaustGLib, .exit(RenderExit.outOfMemory.rawValue)),
        (.exhaustCPlusPlus, .exit(RenderExit.outOfMemory.rawValue)),
        (.fillDisk, .signal(SIGXFSZ)), (.abort, .signal(SIGABRT)),
    ])
    func `how a child ends says why`(attack: TestAttack, end: ChildEnd) async throws {
        let fixture = try Fixture()
        let child = try fixture.child(attack)
        try child.send(fixture.render())
        #expect(try await child.waitForEnd() == end)
    }

    @Test func `a child cannot lift the limits that it has for its life`() throws {
        let fixture = try Fixture()
        let child = try fixture.child(
            .liftLimits, [ChildEnvironment.memoryMax: "\(256 << 20)"])
        guard case .failed(let failure) = try child.ask(fixture.render()) else {
            Issue.record("no answer")
            return
        }
        #expect(failure.message == "lift-limits: Operation not permitted")
        let limits = try Child.limits(of: child.process.processIdentifier)
        #expect(limits["Max stack size"] == 8 << 20)
        let data = try #require(limits["Max data size"])
        #expect(((256 << 20)...(512 << 20)).contains(data))
        let addresses = try #require(limits["Max address space"])
        #expect(((16 << 30)...(20 << 30)).contains(addresses))
    }

    @Test func `a loop in the reader of headers ends within five seconds of a core`() async throws {
        let fixture = try Fixture()
        let child = try fixture.child(.spinInHeader)
        try child.send(.inspect(fixture.photo))
        #expect(try await child.waitForEnd() == .signal(SIGXCPU))
    }

    @Test(arguments: Recipe.Format.photos)
    func `a confined child reads and writes each format`(format: Recipe.Format) throws {
        let fixture = try Fixture()
        let child = try fixture.child()
        var output = Recipe.Output()
        output.format = format
        let recipe = try Recipe(filters: [Filter("CISepiaTone")], output: output)
        guard case .rendered = try child.ask(fixture.render(recipe)) else {
            Issue.record("not written as \(format)")
            return
        }
        guard case .inspected(let found) = try child.ask(.inspect(fixture.result, recipe)) else {
            Issue.record("\(fixture.result) cannot be read back")
            return
        }
        #expect(found.header.uprightSize == PixelSize(width: 120, height: 90))
    }

    @Test func `a confined child finds the fonts of a contact sheet's labels`() throws {
        let fixture = try Fixture()
        let child = try fixture.child()
        let sheet = fixture.results + "/sheet.jpg"
        let reply = try child.ask(
            Order(
                work: .contactSheet(
                    ContactSheetRequest(
                        cells: [.init(source: 0, label: "original")], across: 1, cellSide: 96)),
                files: RenderFiles(
                    sources: [try OpenFile(reading: fixture.photo)],
                    outputs: [try OpenFile(writing: sheet)])))
        guard case .rendered = reply else {
            Issue.record("\(String(describing: reply))")
            return
        }
        // 96 x 72 of the photo; the label is below it.
        #expect(try Picture(sheet).height > 72)
    }

    @Test func `the kernel chooses a child first when memory is short, and never dumps it`() throws
    {
        let fixture = try Fixture()
        let child = try fixture.child()
        _ = try child.ask(.confinement)
        let folder = "/proc/\(child.process.processIdentifier)"
        let score = try String(contentsOfFile: folder + "/oom_score_adj", encoding: .utf8)
        #expect(score == "1000\n")
        let limits = try String(contentsOfFile: folder + "/limits", encoding: .utf8)
        #expect(limits.contains(#/Max core file size +1 +1/#))
        #expect(limits.contains(#/Max open files +160 +160/#))
    }
}

@Suite("Limits of one request") struct RequestLimitsTests {
    private static let halfSpeed = ProcessorSpeed(cost: ProcessorSpeed.referenceCost * 2)

    @Test func `a header has seconds, unless pixels are needed to plan`() throws {
        func limits(
            _ filters: [Filter], at speed: ProcessorSpeed = .reference
        ) throws -> RequestLimits {
            .beforePlan(
                of: RenderRequest(
                    .inspect(
                        PhotoRequest(
                            recipe: try Recipe(filters: filters), limits: RenderLimits()))),
                at: speed)
        }
        #expect(try limits([Filter("CISepiaTone")]).cpuSeconds == 4)
        #expect(try limits([Filter("CISepiaTone")], at: Self.halfSpeed).cpuSeconds == 8)
        #expect(try limits([Filter("auto")]).cpuSeconds == nil)
        #expect(
            RequestLimits.beforePlan(of: RenderRequest(.confinement), at: .reference)
                == RequestLimits())
    }

    @Test func `time is told by the clock that the kernel compares with its limit`() {
        // That one counts ticks, the other one what the scheduler measured.
        let limited = ProcessUsage.limitedSeconds
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let measured = Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        #expect(limited > 0)
        #expect(abs(limited - measured) < 1 + measured / 5, "\(limited), \(measured)")
    }

    @Test func `a render has what its estimate says, and room for it to be wrong`() {
        let plan = RenderPlan(
            lane: .stream, orientation: 1, resultSize: PixelSize(width: 1000, height: 1000),
            passes: [],
            output: OutputPlan(
                format: .jpeg, quality: 0.9, chroma: .half, progressive: false, bitDepth: .eight,
                keepsAlpha: false, background: .white, colorSpace: .source, strip: .none),
            threads: 2)
        let limits = RequestLimits(
            plan,
            estimate: RenderEstimate(
                memoryBytes: 100 << 20, spoolBytes: 50_000_000, cpuSeconds: 10),
            sourceBytes: 1_000_000, at: .reference)
        #expect(limits.cpuSeconds == 400)
        // Two of libvips' threads, two of the chain: stacks of 8 MB each.
        #expect(limits.dataBytes == (456 + 4 * 8) << 20)
        #expect(limits.fileBytes == 51_000_000 + 64 << 20)
        // A rendition may be larger than the picture: 16 bytes a pixel.
        let larger = RequestLimits(
            plan, estimate: RenderEstimate(memoryBytes: 1, cpuSeconds: 1),
            renditionPixels: 35_000_000, sourceBytes: 0, at: .reference)
        #expect(larger.fileBytes == 560_000_000 + 64 << 20)
        let estimate = RenderEstimate(memoryBytes: 1, cpuSeconds: 0.01)
        #expect(
            RequestLimits(plan, estimate: estimate, sourceBytes: 1, at: .reference).cpuSeconds
                == 120)
        #expect(
            RequestLimits(plan, estimate: estimate, sourceBytes: 1, at: Self.halfSpeed).cpuSeconds
                == 240)
    }
}

@Suite("Speed of the processor") struct ProcessorSpeedTests {
    @Test(arguments: [(0.01, 1.0), (1, 1), (2.5, 2.5), (1e9, 100)])
    func `limits grow with the cost of a piece of work, and never shrink or vanish`(
        factor: Double, slowdown: Double
    ) {
        let speed = ProcessorSpeed(cost: ProcessorSpeed.referenceCost * factor)
        #expect(abs(speed.slowdown - slowdown) < 1e-6)
        #expect(speed.scaled(.seconds(60)) >= .seconds(60))
    }

    @Test func `this process is measured, whatever it is`() {
        #expect(ProcessorSpeed.here.slowdown >= 1)
        print("slowdown here: \(ProcessorSpeed.here.slowdown)")
    }

    @Test func `a render waits as much longer as it computes`() {
        let estimate = RenderEstimate(memoryBytes: 1, cpuSeconds: 10)
        let slow = ProcessorSpeed(cost: ProcessorSpeed.referenceCost * 3)
        #expect(estimate.cpuLimit(at: .reference) == .seconds(200))
        #expect(estimate.timeLimit(at: slow) == .seconds(3000))
    }
}
