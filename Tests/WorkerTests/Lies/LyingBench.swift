import Edits
import Foundation
import Glibc
import Logging
import MinilabTesting
import RenderProtocol
import SystemPackage

@testable import Editing
@testable import Library
@testable import RenderPool

/// A library with two photos of which each has a version, and a worker's pool whose first child lies.
struct LyingBench {
    let bench: Workbench
    /// The photo that is rendered by a liar.
    let own: AssetPath
    /// Another one.
    let other: AssetPath
    let pool: RenderPool
    let before: LibraryTree
    private let child: String

    static let edit =
        #"{"filters":[{"name":"CIPhotoEffectMono"}],"output":{"format":"png","previews":[16]}}"#
    static let size = PixelSize(width: 64, height: 48)

    init(_ lie: TestLie) async throws {
        bench = try Workbench(inMemory: true)
        own = try bench.put("own.png", SyntheticPhoto.png(width: 64, height: 48))
        other = try bench.put("other.png", SyntheticPhoto.png(width: 80, height: 60, seed: 9))
        for asset in [own, other] {
            _ = try await bench.edit(asset, #"{"filters":[{"name":"CISepiaTone"}]}"#)
        }
        await bench.pool.close()
        child = try bench.folder.script(
            "child",
            """
            echo $$ >> "$0.pids"
            if mkdir "$0.lied" 2>/dev/null; then
              \(try lie.environment()) exec '\(try Programs.path(of: "minilab-hostile-child"))'
            fi
            exec '\(try Programs.path(of: "minilab-render"))'
            """)
        var settings = RenderSettings(executable: FilePath(child))
        settings.slots = 1
        // Only a child that does not answer comes to it.
        settings.timeout = lie == .misbehaviour(.wait) ? .seconds(5) : .seconds(60)
        pool = RenderPool(settings: settings, logger: Workbench.logger)
        before = try LibraryTree(bench.library.root)
    }

    /// The processes that were started, the first one first.
    var pids: [pid_t] {
        bench.folder.text(of: "child.pids").split(separator: "\n").compactMap { pid_t($0) }
    }

    private func editor() -> AssetEditor {
        AssetEditor(
            library: bench.library, pool: pool, editors: bench.editors, limits: RenderLimits(),
            resources: nil)
    }

    /// One attempt at an edit, published if it was made; else what it has staged is discarded, as a worker does.
    ///
    /// - Parameter tenant: whose job it is.
    func attempt(
        _ asset: AssetPath? = nil, _ edit: String = edit, tenant: String = "shop",
        placeholder: @escaping @Sendable (String) async -> Void = { _ in }
    ) async throws -> Provenance {
        let asset = asset ?? own
        var job = bench.job()
        job.borrower = Borrower(.tenant(try JobID(tenant)))
        job.desk.placeholder = placeholder
        do {
            let outcome = try await editor().make(Edit(json: edit), of: asset, job)
            guard case .made(let version, _) = outcome, let name = VersionName(version.version),
                case .published = try await bench.library.publish(name, of: asset, from: job.staged)
            else { throw Failure(.internalError, "nothing was published: \(outcome)") }
            return version
        } catch {
            try bench.library.staging.discard(job.staged)
            throw error
        }
    }

    /// What is not as it was before the first attempt.
    func differences() throws -> [String] {
        try LibraryTree(bench.library.root).differences(from: before)
    }

    /// The file that readers see of a version.
    func path(_ version: Provenance, of asset: AssetPath) throws -> FilePath {
        guard let content = version.content else {
            throw Failure(.internalError, "it has no render")
        }
        return bench.library.folder(of: asset).folder(of: version).pushing(
            FilePath(content.render.name))
    }
}
