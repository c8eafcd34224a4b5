public import Adjustments
import Editors
public import Library
public import RenderProtocol
import SystemPackage

/// Says what a job would do, without doing it: by the same decisions as the worker's.
public struct EditForecaster: Sendable {
    private let editor: AssetEditor

    /// - Parameter pool: for reading the photos' headers.
    public init(library: Library, pool: RenderPool, settings: WorkerSettings) {
        editor = AssetEditor(
            library: library, pool: pool, editors: settings.editors, limits: settings.limits,
            resources: settings.resources)
    }

    /// What would come of an edit.
    public enum Forecast: Sendable {
        /// There is nothing to do, for this reason.
        case unchanged(String)
        /// A version without a render of its own: an older one shown again, or one that came along.
        case noRender
        /// A render.
        case render(PhotoHeader, RenderPlan)
    }

    /// Looks at an asset and decides.
    ///
    /// - Throws: the `Failure` that the job would die of.
    public func forecast(_ edit: Edit, of asset: AssetPath) async throws -> Forecast {
        let open = try await offPool { () throws(Failure) in
            try editor.open(asset, for: edit.mode.name)
        }
        switch try await editor.plan(edit, open) {
        case .unchanged(let reason): return .unchanged(reason)
        case .discard, .restore, .adopt: return .noRender
        case .render(let task):
            let source = try await offPool { () throws(Failure) in
                try editor.source(of: task, open)
            }
            let (header, plan) = try await editor.pool.probe(
                ProbeRequest(
                    source: source.string, recipe: task.recipe, limits: editor.limits,
                    resources: editor.resources))
            return .render(header, plan)
        }
    }
}

extension AssetEditor {
    /// The file that a render starts from.
    fileprivate func source(
        of task: EditPlan.RenderTask, _ open: OpenAsset
    ) throws(Failure) -> FilePath {
        guard task.input != .original, let current = open.state.current,
            let content = current.content
        else { return try library.original(of: open.asset) }
        let layer = task.input == .base ? content.base?.name : nil
        return library.folder(of: current, open.asset)
            .pushing(FilePath(layer ?? content.render.name))
    }
}
