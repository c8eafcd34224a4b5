import Foundation

/// Optional programs of tests.
enum Programs {
    /// Returns the program that the environment names, or the first one with its name in PATH; nil if there is none.
    static func find(_ name: String, named variable: String) -> String? {
        let environment = ProcessInfo.processInfo.environment
        if let named = environment[variable] { return named }
        return (environment["PATH"] ?? "").split(separator: ":")
            .map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
