import Edits
import Editors
import Files
import FoundationEssentials
import Library
import RenderProtocol
import SystemPackage
import Telemetry
import Tracing

extension AssetEditor {
    /// Makes a version that shows an older content, or the original, again. No pixel is rendered.
    func restore(
        _ restoration: EditPlan.Restoration, _ edit: Edit, _ open: OpenAsset, _ job: Job
    ) async throws -> Provenance {
        try await begin(job.staged)
        if let from = restoration.from, let content = from.content {
            for name in content.fileNames {
                try await library.link(
                    StoredFile(name, of: from, open.asset), as: name, into: job.staged)
            }
        }
        return try await seal(
            edit, open, job, content: restoration.from?.content,
            timeline: restoration.timeline)
    }

    /// Creates the empty folder of a staged version.
    func begin(_ staged: StagedVersion) async throws(Failure) {
        try await offPool { () throws(Failure) in _ = try library.staging.begin(staged) }
    }

    /// Adds the provenance to the staged files.
    ///
    /// - Parameter timeline: the timeline after a move through history; nil: the version counts as an edit.
    func seal(
        _ edit: Edit, _ open: OpenAsset, _ job: Job, content: Content?, timeline: Timeline?
    ) async throws(Failure) -> Provenance {
        let parent = open.state.current.flatMap { VersionName($0.version) }
        let name = VersionName(revision: (parent?.revision ?? 0) + 1, fence: job.staged.fence)
        let before = open.state.current?.timeline ?? .start
        let provenance = Provenance(
            version: name, parent: parent, isDraft: edit.isDraft, mode: edit.mode.name,
            draft: edit.mode.name == .publish
                ? open.state.draft.flatMap { VersionName($0.version) } : nil,
            author: job.author, edit: edit.json.digest,
            history: try await library.publishedJobs(of: open.asset, open.state),
            timeline: timeline ?? before.edited(by: name), content: content)
        try await inSpan("seal") { _ throws(Failure) in
            try await library.seal(job.staged, provenance, of: open.asset)
        }
        return provenance
    }
}
