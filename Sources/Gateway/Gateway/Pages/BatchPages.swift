import AccessKeys
import Edits
import Dashboard
import Hummingbird
import JobQueue
import Operations

enum BatchPages {
    static let routes: [Route] = [
        Route(.get, Links.batches, .page(.read), "Batches, the newest first.") { call in
            .page(try await list(call))
        },
        Route(.get, "/batches/{batch}", .page(.read), "A batch: how far it is.") { call in
            .page(try await page(BatchRoutes.find(call).1, call))
        },
        Route(.post, "/batches/{batch}/cancel", .page(.enqueue), "Cancels a batch.") { call in
            _ = try await call.form()
            let (name, _) = try await BatchRoutes.find(call)
            try await BatchRoutes.end(name, reason: "cancelled on the dashboard", call)
            try await call.note("cancelBatch", name.string)
            return Call.seeOther(Links.batch(name.string), .cancelled)
        },
    ]

    /// The most open and the most ended batches that the page shows.
    private static let shownMax = 100

    static func list(_ call: Call) async throws -> BatchesPage {
        let open = try await BatchRoutes.newest(.open, count: shownMax, call)
        let ended = try await BatchRoutes.newest(.ended, count: shownMax, call)
        let slots = try await BatchRoutes.slots(call)
        func rows(_ list: BatchList) -> [BatchRow] {
            list.records.map { BatchRow(BatchReport($0, slots: slots)) }
        }
        return BatchesPage(
            call.frame(), open: rows(open), moreOpen: open.more, ended: rows(ended),
            moreEnded: ended.more)
    }

    static func page(_ record: BatchRecord, _ call: Call) async throws -> BatchPage {
        let slots = try await BatchRoutes.slots(call)
        var failures: [String: Int] = [:]
        if record.dead > 0 {
            var filter = DeadFilter(try call.key.reach)
            filter.batch = try BatchID(record.batch)
            failures = try await DeadRoutes.tally(filter, call).codes
        }
        return BatchPage(
            call.frame(), report: BatchReport(record, slots: slots), slots: slots,
            failures: failures, pictures: try await pictures(of: record, call))
    }

    /// The most pictures of one batch, and the number of recently completed jobs of the whole queue that are searched
    /// for them.
    private static let picturesMax = 12
    private static let doneMax = 200

    /// Returns pictures of the newest renders of a batch, if these are among the most recently completed jobs.
    private static func pictures(
        of batch: BatchRecord, _ call: Call
    ) async throws -> [Picture] {
        guard batch.done > 0 else { return [] }
        var seen: Set<String> = []
        var pictures: [Picture] = []
        let key = try call.key
        let done = try await call.parts.permits.reading(of: key) {
            try await call.parts.queue.done(count: doneMax).compactMap { key.view.view($0) }
        }
        for job in done
        where job.batch == batch.batch && pictures.count < picturesMax {
            guard let version = job.version, seen.insert(job.asset).inserted else { continue }
            pictures.append(Picture(asset: job.asset, version: version))
        }
        return pictures
    }
}
