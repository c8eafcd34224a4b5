public import Adjustments
import Editors
import Files
public import Library
public import RenderProtocol
import SystemPackage

/// Says what a job would do, without doing it: by the same decisions as the worker's.
public struct EditForecaster: Sendable {
    private let editor: AssetEditor

    /// - Parameter pool: for reading the photos' headers.
    public init(library: any LibraryStore, pool: RenderPool, settings: WorkerSettings) {
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
        case render(Inspection)
    }

    /// Looks at an asset and decides.
    ///
    /// - Throws: the `Failure` that the job would die of.
    public func forecast(_ edit: Edit, of asset: AssetPath) async throws -> Forecast {
        let open = try await editor.open(asset, for: edit.mode.name)
        switch try await editor.plan(edit, open) {
        case .unchanged(let reason): return .unchanged(reason)
        case .discard, .restore, .adopt: return .noRender
        case .render(let task):
            let source = try await editor.source(of: task, open)
            let files = try await offPool { () throws(Failure) in
                try editor.files(source, for: task.recipe)
            }
            return .render(
                try await editor.pool.inspect(
                    PhotoRequest(recipe: task.recipe, limits: editor.limits), files))
        }
    }
}

extension AssetEditor {
    /// The file that a render starts from.
    fileprivate func source(
        of task: EditPlan.RenderTask, _ open: OpenAsset
    ) async throws(Failure) -> OpenFile {
        guard task.input != .original, let current = open.state.current,
            let content = current.content
        else { return try await openPhoto(open.asset, of: "") }
        let layer = task.input == .base ? content.base?.name : nil
        return try await library.open(
            StoredFile(layer ?? content.render.name, of: current, open.asset))
    }
}
