import Edits
import Files
import Foundation
import Glibc
import Library
import MinilabTesting
import RenderProtocol
import SystemPackage
import Testing

@testable import Editing
@testable import RenderPool

/// A part of a movie may take minutes: nobody who cancels waits for its end.
@Suite("A movie that is cancelled", .timeLimit(.minutes(10))) struct MovieCancelTests {
    /// A child that reads the movie, and then ones that never answer.
    private struct Script {
        let folder: TemporaryFolder
        let path: String

        init() throws {
            folder = try TemporaryFolder()
            let child = try Programs.path(of: "minilab-render")
            path = try folder.script(
                "child",
                """
                if mkdir "$0.first" 2>/dev/null; then exec '\(child)'; fi
                read line
                echo $$ >> "$0.pids"
                exec tail -f /dev/null
                """)
        }

        /// Children that were asked for a part.
        var pids: [pid_t] {
            folder.text(of: "child.pids").split(separator: "\n").compactMap { pid_t($0) }
        }
    }

    @Test func `has the children of its parts killed, which do not end by themselves`() async throws
    {
        ignoreBrokenPipes()
        let script = try Script()
        var settings = RenderSettings(executable: FilePath(script.path))
        settings.slots = 2
        settings.timeout = .seconds(100_000)
        let pool = RenderPool(settings: settings, logger: Workbench.logger)
        let movie = Repository.fixture("Movies/edit_list_positive_shift.mp4").path
        let files = RenderFiles(sources: [try OpenFile(reading: movie)])
        let request = PhotoRequest(
            recipe: try Recipe(filters: [Filter("CISepiaTone")]), limits: RenderLimits())
        let inspection = try await pool.inspect(
            request, files, for: Borrower(.operator))
        #expect(inspection.plan.movie?.segments == 2)
        await pool.close()

        let parts = MovieParts(
            pool: pool, borrower: Borrower(.operator), request: request, files: files,
            inspection: inspection)
        let task = Task {
            try await parts.rendered { () throws(Failure) in try .inMemory(name: "a part") }
        }
        try await eventually("a part is asked for") { script.pids.isEmpty ? nil : () }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await eventually("its children are gone") {
            script.pids.allSatisfy { kill($0, 0) != 0 } ? () : nil
        }
        await pool.close()
    }
}
