import Adjustments
import ArgumentParser
import FoundationEssentials
import JobQueue

/// The flags that say which dead jobs are meant; several together mean those to which all apply.
struct DeadFilterOptions: ParsableArguments {
    @Option(help: "Of this batch.") var batch: String?

    @Option(help: "Of this tenant.") var tenant: String?

    @Option(
        parsing: .singleValue,
        help: "That died of this code, such as renderCrashed; may be given again.")
    var code: [String] = []

    @Option(
        help: ArgumentHelp(
            "That died at this time or later: 2026-11-21T06:00:00Z, or how long ago: 30m, 2h, 3d.",
            valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("That died at this time or before.", valueName: "time"))
    var until: String?

    @Option(
        help: ArgumentHelp(
            "That have this edit: a file, or the SHA-256 of its canonical JSON.",
            valueName: "file|sha"))
    var recipe: String?

    var isGiven: Bool {
        [batch, tenant, since, until, recipe].contains { $0 != nil } || !code.isEmpty
    }

    func filter() throws -> DeadFilter {
        var filter = DeadFilter()
        filter.batch = try batch.map { try BatchID($0) }
        filter.tenant = try tenant.map { try JobID($0) }
        for name in code {
            guard let code = FailureCode(rawValue: name) else {
                throw ValidationError(
                    "--code \(name.debugDescription) is not a code; known: "
                        + FailureCode.allCases.map(\.rawValue).joined(separator: ", ") + ".")
            }
            filter.codes.insert(code)
        }
        filter.since = try since.map { try Self.time($0, of: "--since") }
        filter.until = try until.map { try Self.time($0, of: "--until") }
        filter.edit = try recipe.map(Self.digest)
        return filter
    }

    /// - Returns: ms since 1970.
    private static func time(_ text: String, of flag: String) throws -> Int {
        let ago = Setting<Duration>.duration(flag, .zero ... .seconds(36500 * 86400), default: "")
        if let ago = try ago.parse(text) {
            return Int(Date.now.timeIntervalSince1970 * 1000) - Int(ago / .milliseconds(1))
        }
        let checked = try Scheduling.time(text, of: flag)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: checked.contains("."))
        return Int(try Date(checked, strategy: style).timeIntervalSince1970 * 1000)
    }

    private static func digest(_ recipe: String) throws -> String {
        let isDigest =
            recipe.utf8.count == 64
            && recipe.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        return isDigest ? recipe : try readEdit(recipe).json.digest
    }
}
