import Adjustments
import FileBytes
import Foundation
import MinilabTesting
import RenderProtocol
import Testing
import Vips

@testable import Rendering

/// How a child ended.
enum ChildEnd: Equatable {
    case exit(Int32)
    case signal(Int32)
}

/// A real `minilab-render`, or the executable that stands for one that was taken over.
final class Child {
    let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var received = Data()

    init(
        environment: [String: String] = [:], arguments: [String] = [],
        executable: String = "minilab-render"
    ) throws {
        // The executable lies beside the test runner.
        let runner = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        process.executableURL = URL(fileURLWithPath: runner).deletingLastPathComponent()
            .appendingPathComponent(executable)
        // Processes of other tests must not hold the other end open: the child could not see its end.
        for pipe in [input, output] {
            for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
                _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
            }
        }
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        try LastingThread.shared.run { [process] in try process.run() }
        // Ours only: while this process holds the reading end, the child's end stays open.
        signal(SIGPIPE, SIG_IGN)
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    func send(_ data: Data) throws { try input.fileHandleForWriting.write(contentsOf: data) }
    func closeInput() throws { try input.fileHandleForWriting.close() }

    /// The next answer, or nil when the child has ended.
    func reply() throws -> RenderReply? {
        while true {
            if let newline = received.firstIndex(of: 10) {
                let line = Data(received[..<newline])
                received = Data(received[(newline + 1)...])
                return try LineFormat.decode(RenderReply.self, from: line)
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            received.append(more)
        }
    }

    func ask(_ request: RenderRequest) throws -> RenderReply? {
        try send(LineFormat.encode(request))
        return try reply()
    }

    func waitForEnd() async throws -> ChildEnd {
        try await eventually("the child ends") { process.isRunning ? nil : () }
        let status = process.terminationStatus
        return process.terminationReason == .exit ? .exit(status) : .signal(status)
    }

    /// Waits until the kernel says that it is stopped.
    func waitForStop() async throws {
        let path = "/proc/\(process.processIdentifier)/stat"
        try await eventually("the child stops") {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            return text.split(separator: ")").last?.split(separator: " ").first == "T" ? () : nil
        }
    }
}

@Suite("Render child", .timeLimit(.minutes(2))) struct RenderChildTests {
    private func photo(_ studio: Studio, width: Int = 120, height: Int = 90) throws -> String {
        let path = studio.path("in.jpg")
        try TestPicture.image(width: width, height: height).writeJPEG(
            to: path, quality: 90, chroma: .on)
        return path
    }

    private func request(_ studio: Studio, _ source: String, stem: String = "out") throws
        -> RenderRequest
    {
        .render(
            PhotoRequest(
                source: source, recipe: try Recipe(filters: [Filter("CISepiaTone")]),
                limits: RenderLimits(), folder: studio.folder, stem: stem))
    }

    @Test func `one child renders many photos, also after a failure`() async throws {
        let studio = try Studio()
        let source = try photo(studio)
        let child = try Child()
        var digests: Set<String> = []
        for number in 0..<5 {
            guard case .rendered(let report) = try child.ask(request(studio, source)) else {
                Issue.record("photo \(number) was not rendered")
                continue
            }
            digests.insert(report.output.digest)
            #expect(report.cpuMilliseconds > 0 && report.peakMemoryBytes > 1 << 20)
            #expect(report.sourceDigest == (try FileDigest.sha256(of: source).hex))
            guard case .failed(let failure) = try child.ask(request(studio, source + "x")) else {
                Issue.record("a missing file was rendered")
                continue
            }
            #expect(failure.code == .missingAsset)
        }
        #expect(digests.count == 1)
        try child.closeInput()
        #expect(try await child.waitForEnd() == .exit(RenderExit.finished.rawValue))
    }

    @Test func `a probe answers with header and plan`() throws {
        let studio = try Studio()
        let child = try Child()
        let probe = RenderRequest.probe(
            ProbeRequest(
                source: try photo(studio), recipe: try Recipe(filters: [Filter("CISepiaTone")]),
                limits: RenderLimits()))
        guard case .probed(let header, let plan) = try child.ask(probe) else {
            Issue.record("no answer")
            return
        }
        #expect(header.format == "jpeg" && header.storedSize == PixelSize(width: 120, height: 90))
        #expect(plan.lane == .planes && plan.passes.count == 1)
    }

    @Test func `a line that is no request ends the child`() async throws {
        let child = try Child()
        try child.send(Data("hello\n".utf8))
        #expect(try await child.waitForEnd() == .exit(RenderExit.badRequest.rawValue))
    }

    @Test func `a contact sheet has as many pictures in a row as it is told`() throws {
        let studio = try Studio()
        let source = try photo(studio)
        let sheet = studio.path("sheet.jpg")
        let child = try Child()
        let cells = Array(repeating: ContactSheetRequest.Cell(source: source), count: 4)
        let reply = try child.ask(
            .contactSheet(
                ContactSheetRequest(
                    cells: cells, across: 2, cellSide: 480, destination: sheet)))
        guard case .drawn = reply else {
            Issue.record("\(String(describing: reply))")
            return
        }
        let picture = try Picture(sheet)
        #expect(picture.width == 2 * 120 + 12 && picture.height == 2 * 90 + 12)
    }

    @Test func `a child whose worker is gone in the middle of a render ends as orphan`()
        async throws
    {
        let studio = try Studio()
        let child = try Child(environment: [TestPoint.variable: TestPoint.midRender.rawValue])
        // Large enough that much is left to do when the first strip is computed.
        let source = try photo(studio, width: 900, height: 700)
        try child.send(LineFormat.encode(request(studio, source)))
        try await child.waitForStop()
        try child.closeInput()
        kill(child.process.processIdentifier, SIGCONT)
        #expect(try await child.waitForEnd() == .exit(RenderExit.orphaned.rawValue))
    }

    @Test func `the points at which a test can stop a render are reached`() async throws {
        let studio = try Studio()
        let source = try photo(studio)
        for point in [TestPoint.midRender, .afterRender] {
            let child = try Child(environment: [TestPoint.variable: point.rawValue])
            try child.send(LineFormat.encode(request(studio, source)))
            try await child.waitForStop()
            kill(child.process.processIdentifier, SIGKILL)
            #expect(try await child.waitForEnd() == .signal(SIGKILL))
        }
    }
}
