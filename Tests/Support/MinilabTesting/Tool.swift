public import Foundation

/// External programs that validate our files.
public enum Tool {
    /// The time in seconds after which a tool is killed and the test fails.
    static let secondsMax = 300

    public struct Failed: Error {
        public let command: String
        public let status: Int32
        public let output: String
    }

    /// Runs a program until it exits and returns its output.
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
        process.arguments = ["--kill-after=5", "\(secondsMax)", program] + arguments
        process.standardInput = try FileHandle(forReadingFrom: inputFile)
        process.standardError = try FileHandle(forWritingTo: errorFile)
        // The output goes to a file. With a pipe, a server that starts meanwhile would inherit its end and hold it
        // open.
        let outputFile = URL(filePath: folder.file("output"))
        try Data().write(to: outputFile)
        process.standardOutput = try FileHandle(forWritingTo: outputFile)
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failed(
                command: ([program] + arguments).joined(separator: " "),
                status: process.terminationStatus,
                output: try String(contentsOf: errorFile, encoding: .utf8))
        }
        return try Data(contentsOf: outputFile)
    }
}
