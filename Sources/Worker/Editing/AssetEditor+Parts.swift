import Edits
import Files
import Library
import RenderPool
import RenderProtocol

extension AssetEditor {
    /// Renders a part of another job's movie and stores it in the library, where that job's worker finds it.
    ///
    /// - Throws: `ioFailure` if the original differs from the one that the job's worker has read; the errors of
    ///   rendering.
    package func makePart(_ number: Int, of task: PartTask, _ job: Job) async throws {
        let source = try await openPhoto(AssetPath(task.asset), for: job.borrower)
        try await begin(job.staged)
        try await inSlot(job) {
            try await pool.planning { memoryMax in
                let files = try await offPool { () throws(Failure) in
                    try self.files(source, for: task.recipe, of: job.borrower.owner)
                }
                let request = PhotoRequest(
                    recipe: task.recipe, limits: limits, memoryMax: memoryMax)
                let inspection = try await pool.inspect(request, files, for: job.borrower)
                let sha256 = try await digests.hex(of: source)
                let key = try RenderKey(
                    task.recipe, inspection.header, sha256, of: ownerOfRender(job))
                guard key.hex == task.key else {
                    throw Failure(
                        .ioFailure,
                        "\(source.name) is not what it was when its job began, so no part of it is rendered here. "
                            + "Put originals in their place by a rename, and never change one.")
                }
                let movie = MovieParts(
                    pool: pool, borrower: job.borrower, request: request, files: files,
                    inspection: inspection, kept: .init(library: library, key: key))
                job.reach(.rendering)
                try await movie.keepPart(number) {
                    () throws(Failure) in try library.staging.scratch(for: job.staged)
                }
            }
        }
    }
}
