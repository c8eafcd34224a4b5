import Foundation

/// Programs that tests can do without.
enum Programs {
    /// The program that the environment names, or the first of its name in PATH; nil means that there is none.
    static func find(_ name: String, named variable: String) -> String? {
        let environment = ProcessInfo.processInfo.environment
        if let named = environment[variable] { return named }
        return (environment["PATH"] ?? "").split(separator: ":")
            .map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
