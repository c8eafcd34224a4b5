import JobQueue
package import Operations

/// The page of one batch: its progress, its estimated end and the basis of the estimate, its cost, its failures.
package struct BatchPage: Page {
    package let frame: Frame
    package let title: String
    package let live: String?
    let row: BatchRow
    /// The basis of the estimated remaining time.
    let basis: String?
    let facts: [Fact]
    let failures: [Failure]
    let pictures: [Picture]
    let hasPictures: Bool
    let cancelAction: String
    let isCancellable: Bool
    let deadHref: String

    package static let section: Section? = .batches
    package static let template = "batch"
    package static let parts = ["progress", "failures"]

    /// The jobs that died with one code.
    package struct Failure: View {
        let code: String
        let count: String
        let width: Int
        let href: String
    }

    package init(
        _ frame: Frame, report: BatchReport, slots: Int, failures: [String: Int],
        pictures: [Picture]
    ) {
        let record = report.record
        self.frame = frame
        title = "Batch \(record.batch)"
        live = record.isComplete ? nil : Links.live("batch", of: record.batch)
        row = BatchRow(report)
        basis = Self.basis(report, slots: slots)
        facts = Self.facts(report)
        let most = failures.values.max() ?? 0
        self.failures = failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { code, count in
                Failure(
                    code: code, count: grouped(count), width: max(1, portion(count, of: most)),
                    href: DeadSelection(code: code, batch: record.batch).listed())
            }
        self.pictures = pictures
        hasPictures = !pictures.isEmpty
        cancelAction = Links.cancelBatch(record.batch)
        isCancellable = !record.isComplete && record.cancel == nil
        deadHref = DeadSelection(batch: record.batch).listed()
    }

    private static func basis(_ report: BatchReport, slots: Int) -> String? {
        let record = report.record
        guard !record.isComplete else { return nil }
        guard slots > 0 else { return "No worker runs, so the end cannot be estimated." }
        guard let cost = report.meanCost else { return "No job of it has ended yet." }
        let source =
            record.costTotal != nil && record.costEnded > 0
            ? "the estimated costs of its jobs, corrected by the measured costs"
            : "\(short(cost)) ms a job so far"
        return
            "Rests on \(source), \(grouped(record.remaining)) jobs left and \(counted(slots, "slot")) that do nothing else."
    }

    private static func facts(_ report: BatchReport) -> [Fact] {
        let record = report.record
        var facts = [
            Fact("Tenant", record.tenant), Fact("Priority", record.priority),
            Fact("Opened", Moment(record.opened).exact),
            Fact(
                "Sealed",
                record.sealed.map { "\(grouped($0)) jobs" } ?? "not yet: more may come"),
        ]
        if let because = record.sealedBecause { facts.append(Fact("Sealed by workers", because)) }
        if let ended = record.ended { facts.append(Fact("Ended", Moment(ended).exact)) }
        if let reason = record.cancel { facts.append(Fact("Cancelled", reason)) }
        if let cap = record.cap { facts.append(Fact("At a time", grouped(cap))) }
        facts += [
            Fact("Jobs a second", short(report.rate)),
            Fact("Cost of a job", report.meanCost.map { "\(short($0)) ms" } ?? "not known yet"),
            Fact("Cost so far", clock(record.milliseconds / 1000) + " of a slot"),
        ]
        if record.generation > 1 {
            facts.append(Fact("Opened again", "\(record.generation - 1) ×"))
        }
        return facts
    }
}

/// The page of all batches: the running ones first, then the ended ones.
package struct BatchesPage: Page {
    package let frame: Frame
    package let title = "Batches"
    package let live: String? = Links.live("batches")
    let open: [BatchRow]
    let ended: [BatchRow]
    /// The numbers of batches that the page does not show: `, and 980 more`.
    let moreOpen: String?
    let moreEnded: String?

    package static let section: Section? = .batches
    package static let template = "batches"
    package static let parts = ["open"]

    package init(
        _ frame: Frame, open: [BatchRow], moreOpen: Int = 0, ended: [BatchRow], moreEnded: Int = 0
    ) {
        self.frame = frame
        self.open = open
        self.ended = ended
        self.moreOpen = moreOpen > 0 ? grouped(moreOpen) : nil
        self.moreEnded = moreEnded > 0 ? grouped(moreEnded) : nil
    }
}
