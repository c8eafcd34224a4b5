import Edits
import Library
import RenderProtocol
import SystemPackage
import Worker
import Operations

/// The result of a run, with one row per job.
struct RunReport: Encodable {
    let completed: [JobEvent.Completed]
    let unchanged: [JobEvent.Unchanged]
    let superseded: [JobEvent.Superseded]
    let failed: [JobEvent.Failed]
    let cancelled: [JobEvent.Cancelled]
    /// The lines of the manifest that are no jobs.
    let refused: RefusedLines
    let library: String
    let contactSheet: String?

    /// The most rows of the table; a longer run shows its failures and the totals.
    static let rowsMax = 60

    var text: String {
        var lines: [String] = []
        if completed.count <= Self.rowsMax {
            var table = TextTable(
                ["asset", "filters", "pixels", "ms", "peak MB", "where"], rightAligned: [2, 3, 4])
            for job in completed {
                table.add([
                    job.asset, Self.what(job),
                    job.render.map { "\($0.width)×\($0.height)" } ?? "",
                    job.reusedFrom == nil ? "\(Int(job.timings.renderMilliseconds))" : "reused",
                    job.reusedFrom == nil ? megabytes(job.peakMemoryBytes) : "",
                    job.version.path,
                ])
            }
            lines.append(table.text)
            lines.append("")
        }
        let dropped = completed.compactMap { job in
            job.render?.motionVideo?.reason.map { (job, $0) }
        }
        for (job, reason) in dropped.prefix(Self.rowsMax) {
            lines.append("without its video: \(job.asset) (job \(job.job)): \(reason)".printable)
        }
        if dropped.count > Self.rowsMax {
            lines.append("… and \(dropped.count - Self.rowsMax) more")
        }
        for job in unchanged.prefix(Self.rowsMax) {
            lines.append("unchanged: \(job.asset) (job \(job.job)): \(job.reason)".printable)
        }
        if unchanged.count > Self.rowsMax {
            lines.append("… and \(unchanged.count - Self.rowsMax) more")
        }
        for job in superseded.prefix(Self.rowsMax) {
            lines.append("superseded: \(job.asset) (job \(job.job)): \(job.reason)".printable)
        }
        if superseded.count > Self.rowsMax {
            lines.append("… and \(superseded.count - Self.rowsMax) more")
        }
        for job in cancelled.prefix(Self.rowsMax) {
            lines.append("cancelled: \(job.asset) (job \(job.job)): \(job.reason)".printable)
        }
        if cancelled.count > Self.rowsMax {
            lines.append("… and \(cancelled.count - Self.rowsMax) more")
        }
        for job in failed.prefix(Self.rowsMax) {
            lines.append(
                ("failed: \(job.asset) (job \(job.job)): \(job.error.code.rawValue): "
                    + job.error.message).printable)
        }
        if failed.count > Self.rowsMax { lines.append("… and \(failed.count - Self.rowsMax) more") }
        lines += refused.sentences(atMost: Self.rowsMax).map { "not run: \($0)".printable }
        lines.append(
            "\(completed.count) done, "
                + (unchanged.isEmpty ? "" : "\(unchanged.count) unchanged, ")
                + (superseded.isEmpty ? "" : "\(superseded.count) superseded, ")
                + (cancelled.isEmpty ? "" : "\(cancelled.count) cancelled, ")
                + (refused.isEmpty ? "" : "\(refused.count) not run, ")
                + "\(failed.count) failed. Results: \(library)")
        if let contactSheet { lines.append("Before and after: \(contactSheet)") }
        return lines.joined(separator: "\n")
    }

    private static func what(_ job: JobEvent.Completed) -> String {
        let filters = job.filters.map { $0.map(short).joined(separator: " + ") } ?? ""
        if job.mode == .replace { return filters }
        return filters.isEmpty ? job.mode.rawValue : "\(job.mode.rawValue): \(filters)"
    }

    /// Returns the filter in short form: `SepiaTone 0.8`.
    private static func short(_ filter: Filter) -> String {
        let name = filter.name.hasPrefix("CI") ? String(filter.name.dropFirst(2)) : filter.name
        // Only numbers are shown, because other parameters are too long for the line.
        let values = filter.definition.parameters.compactMap { parameter -> String? in
            guard let number = filter.parameters[parameter.name]?.number else { return nil }
            let rounded = (number * 100).rounded() / 100
            return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
        }
        return ([name] + values).joined(separator: " ")
    }
}
