import Edits
import Files
import Foundation
import MinilabTesting
import RenderProtocol

@testable import Rendering

/// A request as a worker makes it: with the files that it names.
struct Order {
    let work: RenderRequest.Work
    let files: RenderFiles

    /// Asks for what keeps a child from doing harm.
    static let confinement = Order(work: .confinement, files: RenderFiles())

    /// Asks for a plan.
    static func inspect(
        _ source: String, _ recipe: Recipe? = nil, limits: RenderLimits = RenderLimits()
    ) throws -> Order {
        Order(
            work: .inspect(
                PhotoRequest(
                    recipe: try recipe ?? Recipe(filters: [Filter("CISepiaTone")]), limits: limits)),
            files: RenderFiles(sources: [try OpenFile(reading: source)]))
    }

    /// Asks for a render to a file.
    static func render(
        _ source: String, _ recipe: Recipe? = nil, limits: RenderLimits = RenderLimits(),
        to path: String
    ) throws -> Order {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return Order(
            work: .render(
                PhotoRequest(
                    recipe: try recipe ?? Recipe(filters: [Filter("CISepiaTone")]), limits: limits)),
            files: RenderFiles(
                sources: [try OpenFile(reading: source)],
                outputs: [try OpenFile(writing: path)],
                spool: try .nameless(in: folder, name: "the spool")))
    }
}

/// How a child ended.
enum ChildEnd: Equatable {
    case exit(Int32)
    case signal(Int32)
}

/// A real `minilab-render`, or the executable that stands for one that was taken over.
final class Child {
    let process = Process()
    private var socket: DescriptorSocket?
    private let output = Pipe()
    private var received = Data()
    private var asked: [RenderRequest] = []

    /// - Parameter calls: the file for the system calls that it makes; nil for no record.
    init(
        environment: [String: String] = [:], executable: String = "minilab-render",
        recordingCallsTo calls: String? = nil
    ) throws {
        let path = try Programs.path(of: executable)
        process.executableURL = URL(filePath: calls == nil ? path : "/usr/bin/strace")
        if let calls { process.arguments = ["-f", "-o", calls, path] }
        // Processes of other tests must not hold the other end open: the child could not see its end.
        for end in [output.fileHandleForReading, output.fileHandleForWriting] {
            _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        let (ours, theirs) = try DescriptorSocket.pair()
        socket = ours
        process.standardInput = FileHandle(fileDescriptor: theirs, closeOnDealloc: true)
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

    /// The hard limits of a process, by the kernel's names; those without a limit are left out.
    static func limits(of process: pid_t) throws -> [String: Int] {
        let text = try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8)
        var limits: [String: Int] = [:]
        for line in text.split(separator: "\n") {
            // The name takes 26 columns; soft and hard follow.
            let fields = line.dropFirst(26).split(separator: " ")
            guard fields.count >= 2, let hard = Int(fields[1]) else { continue }
            let name = line.prefix(26).split(separator: " ").joined(separator: " ")
            limits[name] = hard
        }
        return limits
    }

    func send(_ data: Data) throws { try socket?.send([UInt8](data), with: []) }

    /// Hands a request over with its files.
    func send(_ order: Order) throws {
        let handed = order.files.handed
        let request = RenderRequest(order.work, files: handed.map(\.role))
        try socket?.send(
            [UInt8](LineFormat.encode(request)), with: handed.map(\.file.descriptor))
        asked.append(request)
    }

    func closeInput() { socket = nil }

    /// The next answer, without progress, or nil when the child has ended.
    func reply() throws -> RenderReply.Content? {
        while let line = line() {
            let reply = try RenderReply(line, to: asked[0])
            if case .progress = reply.content { continue }
            asked.removeFirst()
            return reply.content
        }
        return nil
    }

    private func line() -> Data? {
        while true {
            if let newline = received.firstIndex(of: 10) {
                defer { received = Data(received[(newline + 1)...]) }
                return Data(received[..<newline])
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            received.append(more)
        }
    }

    func ask(_ order: Order) throws -> RenderReply.Content? {
        try send(order)
        return try reply()
    }

    /// The kernel's record of its highest resident set.
    func peakBytes() throws -> Int {
        let path = "/proc/\(process.processIdentifier)/status"
        let line = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            .first { $0.hasPrefix("VmHWM:") }
        return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) * 1_024
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
