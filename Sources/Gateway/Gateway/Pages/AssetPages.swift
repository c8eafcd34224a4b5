import AccessKeys
import Edits
import Dashboard
import struct Dashboard.AssetPage
import Editors
import FoundationEssentials
import Hummingbird
import JobQueue
import Library
import Operations

/// The pages of assets: any two versions side by side, the list of versions, and the actions of the page's forms.
enum AssetPages {
    static let routes: [Route] = [
        Route(.get, "/assets/{asset...}", .page(.read), "An asset: before and after.") { call in
            let asset = try call.asset
            return try await call.hidingPaths(of: asset) { .page(try await page(asset, call)) }
        },
        Route(
            .post, "/assets/{asset...}", .page(.enqueue), "Undo, redo, publish, discard.",
            handle: act),
    ]

    /// - Parameter verification: the result of a verification; nil if none was requested.
    private static func page(
        _ asset: AssetPath, _ call: Call, verification: Verification? = nil
    ) async throws -> AssetPage {
        let library = call.parts.library
        let permits = call.parts.permits
        let history = try await permits.walking(of: call.key) {
            try await library.versions(of: asset)
        }
        let shown = history.entries.prefix(shownMax)
        let choices =
            [AssetPage.Version(name: "original", label: "the original")]
            + shown.map { .init(name: $0.version.version, label: label($0)) }
        let before = call.query("before") ?? "original"
        let after =
            call.query("after")
            ?? history.entries.first { $0.marks.contains(.current) }?.version.version
            ?? history.entries.first?.version.version
        var diff: [String] = []
        let names = Set(shown.map(\.version.version) + ["original"])
        if let after, names.contains(before), names.contains(after) {
            let comparison = try await permits.walking(of: call.key) {
                try await VersionComparison(before, after, of: asset, in: library)
            }
            diff = comparison.notes + (comparison.comparison?.lines ?? [])
        }
        let draft = history.entries.first { $0.marks.contains(.draft) }?.version
        let current = history.entries.first { $0.marks.contains(.current) }?.version
        var renditions: [RenditionRow] = []
        if let after, let version = VersionName(after) {
            let list = try await library.replaceableSizes(of: version, asset)
            for name in list.names {
                guard let made = list.renditions[name]?.made else { continue }
                renditions.append(
                    RenditionRow(
                        name, "\(made.size) · \(made.mediaType) · \(counted(made.bytes, "byte"))",
                        of: asset.string, version: after))
            }
        }
        return AssetPage(
            call.frame(), asset: asset.string, choices: choices, before: before, after: after,
            diff: diff,
            versions: shown.map { entry in
                VersionRow(
                    asset: asset.string, version: entry.version.version,
                    revision: entry.version.revision, text: text(entry.version),
                    author: call.caller?.tenant == nil ? entry.version.author.job : nil,
                    at: Moment(written: entry.version.author.at),
                    marks: Set(entry.marks.map(\.rawValue)), isCollected: false)
            }, renditions: renditions, undo: move(history.undo, history),
            redo: move(history.redo, history),
            draft: draft.map { draft in
                .init(
                    version: draft.version, label: text(draft),
                    isStale: draft.parent != current?.version)
            },
            verification: verification.map { found in
                found.problems.map { "\($0.subject.rawValue): \($0.sentence)" }
                    + found.notes.map { "\($0.subject.rawValue): \($0.sentence)" }
            }, isVerified: verification?.problems.isEmpty ?? false)
    }

    /// The most versions that the page shows.
    private static let shownMax = 100

    private static func label(_ entry: History.Entry) -> String {
        "\(entry.version.isDraft ? "draft" : "\(entry.version.revision)") · \(text(entry.version))"
    }

    private static func text(_ version: Provenance) -> String {
        guard let recipe = version.content?.recipe else { return version.mode.rawValue }
        let names = recipe.filters.map(\.name)
        return names.isEmpty ? version.mode.rawValue : names.joined(separator: ", ")
    }

    private static func move(_ move: History.Move, _ history: History) -> AssetPage.Move? {
        switch move {
        case .nothing: nil
        case .original: .init(to: "the original", isKept: true)
        case .version(let name):
            .init(
                to: history.entries.first { $0.version.version == name }.map(label) ?? name,
                isKept: true)
        case .collected(let name): .init(to: name, isKept: false)
        }
    }

    /// Submits the job for a form's action. Like every edit, it goes through the queue.
    private static func act(_ call: Call) async throws -> Response {
        let form = try await call.form()
        let asset = try call.asset
        if form["action"] == "verify" { return try await verify(asset, call) }
        let (mode, notice): (Edit.Mode, PageNotice)
        switch form["action"] {
        case "undo": (mode, notice) = (.undo, .undone)
        case "redo": (mode, notice) = (.redo, .redone)
        case "publish": (mode, notice) = (.publish(version: form["draft"]), .published)
        case "discard": (mode, notice) = (.discard(version: form["draft"]), .discarded)
        default: throw Problem(.badParameter, "The form requests no known action.")
        }
        var scheduling = Scheduling()
        scheduling.tenant = try call.key.tenant
        scheduling.priority = .interactive
        let request = JobRequest(
            id: try SentJob.randomName(call.key), asset: asset, edit: Edit(mode),
            scheduling: scheduling)
        // A name of its own is nobody else's.
        _ = try await JobRoutes.send(request, call, conflict: Problem(.conflict, ""))
        try await call.note(mode.name.rawValue, asset.string)
        return Call.seeOther(Links.asset(asset.string), notice)
    }

    /// Compares the files of an asset with their records, without rendering.
    private static func verify(_ asset: AssetPath, _ call: Call) async throws -> Response {
        try await call.hidingPaths(of: asset) {
            let (permits, key) = (call.parts.permits, try call.key)
            let found = try await permits.costly(of: key) {
                try await permits.walking(of: key) {
                    try await call.parts.library.verify(
                        asset, allVersions: true, editors: .standard(), now: .now)
                }
            }
            return .page(try await page(asset, call, verification: found.report))
        }
    }
}
