public import Foundation

/// A running executable of the package, started as an operator starts it.
public final class MinilabProcess: Sendable {
    /// The process id.
    public let pid: pid_t
    private let process: ChildProcess
    private let watchdog: Watchdog
    private let folder: TemporaryFolder

    /// The longest wait for a process to exit.
    public static let endTimeout = Duration.seconds(300)

    /// Starts `minilab`, or another executable of the package.
    ///
    /// - Parameter environment: added to the test's own.
    public init(
        _ arguments: [String], executable: String = "minilab", environment: [String: String] = [:]
    ) throws {
        let path = try Programs.path(of: executable)
        folder = try TemporaryFolder()
        let variables = environment.map { "\($0.key)=\($0.value)" }
        process = try ChildProcess(
            ["/usr/bin/env"] + variables + [path] + arguments, log: folder.file("output"))
        pid = process.pid
        watchdog = try Watchdog(over: process, folder: folder.path)
    }

    deinit {
        process.end()
        watchdog.stop()
    }

    /// The output so far, of standard output and standard error.
    public var output: String { folder.text(of: "output") }

    /// Sends a signal.
    public func kill(_ signal: Int32) { process.send(signal) }

    /// Waits for the process to exit; may be called once.
    public func waitForEnd(atMost limit: Duration = endTimeout) async throws -> Ending {
        do {
            let status = try await process.wait(atMost: limit)
            let signal = status & 0x7F
            return signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
        } catch {
            throw TestingFailure("\(error); it printed: \(output)")
        }
    }

    /// The end of a process.
    public enum Ending: Equatable, Sendable {
        /// It exited with this code.
        case exited(Int32)
        /// This signal killed it.
        case signalled(Int32)
    }

    /// Runs an executable until it exits.
    public static func run(
        _ arguments: [String], executable: String = "minilab", environment: [String: String] = [:]
    ) async throws -> (ending: Ending, output: String) {
        let process = try MinilabProcess(
            arguments, executable: executable, environment: environment)
        let ending = try await process.waitForEnd()
        return (ending, process.output)
    }
}
