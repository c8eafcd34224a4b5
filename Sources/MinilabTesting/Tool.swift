public import Foundation

/// Programs that judge our files.
public enum Tool {
    /// Longest a tool may take, in seconds; then it is killed and the test fails.
    static let secondsMax = 60

    public struct Failed: Error {
        public let command: String
        public let status: Int32
        public let output: String
    }

    /// Runs a program to its end and returns what it printed.
    public static func run(_ program: String, _ arguments: [String], input: Data = Data()) throws
        -> Data
    {
        let folder = try TemporaryFolder()
        let inputFile = URL(filePath: folder.file("input"))
        let errorFile = URL(filePath: folder.file("errors"))
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
