public import Foundation

/// One of our executables, run as an operator runs it.
public final class MinilabProcess: Sendable {
    /// Its process.
    public let pid: pid_t
    private let process: ChildProcess
    private let watchdog: Watchdog
    private let folder: TemporaryFolder

    /// The longest wait for a process to end.
    public static let endTimeout = Duration.seconds(120)

    /// Where the package's executables are: beside the test bundle.
    public static let productsFolder = URL(filePath: CommandLine.arguments[0])
        .deletingLastPathComponent()

    /// Starts `minilab`, or another executable of the package.
    ///
    /// - Parameter environment: added to the test's own.
    public init(
        _ arguments: [String], executable: String = "minilab", environment: [String: String] = [:]
    ) throws {
        folder = try TemporaryFolder()
        let path = Self.productsFolder.appending(path: executable).path
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

    /// What it has printed so far, to standard output and standard error.
    public var output: String { folder.text(of: "output") }

    /// Sends a signal.
    public func kill(_ signal: Int32) { process.send(signal) }

    /// Whether it has ended; may be asked once after the end.
    public func waitForEnd(atMost limit: Duration = endTimeout) async throws -> Ending {
        do {
            let status = try await process.wait(atMost: limit)
            let signal = status & 0x7F
            return signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
        } catch {
            throw TestingFailure("\(error); it printed: \(output)")
        }
    }

    /// How a process ended.
    public enum Ending: Equatable, Sendable {
        /// By itself, with this code.
        case exited(Int32)
        /// By this signal.
        case signalled(Int32)
    }

    /// Runs it to its end.
    public static func run(
        _ arguments: [String], executable: String = "minilab", environment: [String: String] = [:]
    ) async throws -> (ending: Ending, output: String) {
        let process = try MinilabProcess(
            arguments, executable: executable, environment: environment)
        let ending = try await process.waitForEnd()
        return (ending, process.output)
    }
}
