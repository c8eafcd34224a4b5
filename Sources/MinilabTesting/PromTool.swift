import Foundation

/// Prometheus' own judge, from Debian's package `prometheus`, which `ops/setup test` installs.
public enum PromTool {
    /// Checks a scrape: format, names, units.
    ///
    /// - Throws: what promtool has to say against it.
    public static func checkMetrics(_ text: String) throws {
        _ = try Tool.run("promtool", ["check", "metrics"], input: Data(text.utf8))
    }
}
