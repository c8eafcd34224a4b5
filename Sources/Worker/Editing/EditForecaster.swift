public import Edits
import Editors
import Files
public import Library
public import RenderPool
public import RenderProtocol
import SystemPackage

/// Forecasts the effect of a job without running it, by the same decisions as the worker's.
public struct EditForecaster: Sendable {
    private let editor: AssetEditor

    /// - Parameter pool: the pool that reads the photos' headers.
    public init(library: any LibraryStore, pool: RenderPool, settings: EditingSettings) {
        editor = AssetEditor(
            library: library, pool: pool, editors: settings.editors, limits: settings.limits,
            resources: settings.resources)
    }

    /// The forecast outcome of an edit.
    public enum Forecast: Sendable {
        /// There is nothing to do, for this reason.
        case unchanged(String)
        /// A version without a new render: an older content or an imported render.
        case noRender
        /// A version with a new render, whose inspection this is.
        case render(Inspection)
    }

    /// Reads the state of an asset and decides.
    ///
    /// - Throws: the `Failure` with which the job would fail.
    public func forecast(_ edit: Edit, of asset: AssetPath) async throws -> Forecast {
        let open = try await editor.open(asset, for: edit.mode.name)
        // A manifest may name assets of any tenant.
        let borrower = Borrower(.photo(asset.string))
        switch try await editor.plan(edit, open, for: borrower) {
        case .unchanged(let reason): return .unchanged(reason)
        case .discard, .restore, .adopt: return .noRender
        case .render(let task):
            let source = try await editor.source(of: task, open, for: borrower)
            let files = try await offPool { () throws(Failure) in
                try editor.files(source, for: task.recipe, of: borrower.owner)
            }
            return .render(
                try await editor.pool.inspect(
                    PhotoRequest(recipe: task.recipe, limits: editor.limits), files,
                    for: borrower))
        }
    }
}

extension AssetEditor {
    /// Opens the file from which a render starts.
    fileprivate func source(
        of task: EditPlan.RenderTask, _ open: OpenAsset, for borrower: Borrower
    ) async throws(Failure) -> OpenFile {
        guard task.input != .original, let current = open.state.current,
            let content = current.content
        else { return try await openPhoto(open.asset, for: borrower) }
        let layer = task.input == .base ? content.base?.name : nil
        return try await library.open(
            StoredFile(layer ?? content.render.name, of: current, open.asset))
    }
}
