public import Foundation

/// The programs that tests start: those of the package as they are shipped, and optional ones of the machine.
public enum Programs {
    /// The folder of the package's programs: the one that `MINILAB_BIN` names, or else that of the release build.
    public static let folder =
        ProcessInfo.processInfo.environment["MINILAB_BIN"].map {
            URL(filePath: $0).absoluteURL.standardizedFileURL
        }
        ?? Repository.root.appending(path: ".build/release")

    /// The programs that no operator installs.
    private static let ofTests: Set = ["minilab-bench", "minilab-hostile-child"]

    /// Returns the path of a program of the package.
    ///
    /// Tests never start a debug program: optimised code may fail where unoptimised code does not.
    ///
    /// - Throws: if it was not built; the sentence names the command that builds it.
    public static func path(of name: String) throws -> String {
        let path = folder.appending(path: name).path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            let option = ofTests.contains(name) ? " --all" : ""
            throw TestingFailure("there is no \(path); build it by ops/release\(option)")
        }
        return path
    }

    /// Returns the program that the environment names, or the first one with its name in PATH; nil if there is none.
    static func find(_ name: String, named variable: String) -> String? {
        let environment = ProcessInfo.processInfo.environment
        if let named = environment[variable] { return named }
        return (environment["PATH"] ?? "").split(separator: ":")
            .map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
