import Foundation

/// Prometheus's own validator, from Debian's package `prometheus`, which `ops/setup test` installs.
public enum PromTool {
    /// Checks the format, names and units of a scrape.
    ///
    /// - Throws: promtool's complaints.
    public static func checkMetrics(_ text: String) throws {
        _ = try Tool.run("promtool", ["check", "metrics"], input: Data(text.utf8))
    }
}
