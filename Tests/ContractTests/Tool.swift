import Foundation

/// Programs that judge our files.
enum Tool {
    /// Longest a tool may take, in seconds; then it is killed and the test fails.
    static let secondsMax = 60

    struct Failed: Error {
        let command: String
        let status: Int32
        let output: String
    }

    /// Runs a program to its end and returns what it printed.
    static func run(_ program: String, _ arguments: [String], input: Data = Data()) throws -> Data {
        let folder = try TemporaryFolder()
        let inputFile = folder.url.appending(path: "input")
        let errorFile = folder.url.appending(path: "errors")
        try input.write(to: inputFile)
        try Data().write(to: errorFile)

        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/timeout")
        process.arguments = ["\(secondsMax)", program] + arguments
        process.standardInput = try FileHandle(forReadingFrom: inputFile)
        process.standardError = try FileHandle(forWritingTo: errorFile)
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failed(
                command: ([program] + arguments).joined(separator: " "),
                status: process.terminationStatus,
                output: try String(contentsOf: errorFile, encoding: .utf8))
        }
        return printed
    }
}

/// A folder that goes away with its last user.
final class TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "minilab-\(UUID())")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        // A folder of a test that stays behind does no harm; there is nobody to tell.
        try? FileManager.default.removeItem(at: url)
    }
}
