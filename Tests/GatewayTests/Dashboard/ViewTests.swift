import FoundationEssentials
import Operations
import Testing

@testable import Dashboard
@testable import JobQueue

struct ViewTests {
    @Test func `numbers have their thousands apart`() {
        #expect(
            [0, 999, 1000, -12_400, 8_412_093].map(grouped) == [
                "0", "999", "1,000", "−12,400", "8,412,093",
            ])
        #expect(grouped(.min) == "−9,223,372,036,854,775,808")
    }

    @Test func `a name that no asset can have leads to no page`() {
        #expect(Links.assetPage("2024/IMG 1.JPG") == "/assets/2024/IMG%201.JPG")
        for name in ["", "../x.jpg", "/x.jpg", "a//b.jpg", "./x.jpg"] {
            #expect(Links.assetPage(name) == nil, "\(name)")
        }
    }

    @Test func `the gravest thing is what the first page says`() {
        var examples = Examples()
        #expect(html(examples.now, "health").contains("1 worker is short of memory."))
        examples.fill = .empty
        #expect(html(examples.now, "health").contains("Nothing is to do, and no worker runs."))
    }

    private static func page(
        dead: Int = 0, active: Int, held: [String], ready: Int = 0, troubled: Set<String> = []
    ) -> NowPage {
        let status = QueueStatus(
            jobs: [.ready: ready, .active: active, .dead: dead], paused: nil, ingressHold: nil,
            flows: [], counters: [:],
            held: held.enumerated().map { number, worker in
                var record = Examples().record(number)
                record.worker = worker
                return record
            }, stuckJobs: [],
            workers: ["a", "b"].map {
                WorkerInfo(name: $0, slots: 2, busy: 1, version: "1", startedAt: "").with(
                    busy: 1, memory: nil, pressure: nil,
                    trouble: troubled.contains($0) ? "the disk of \($0) is away." : nil)
            }, silentWorkers: [], overdue: OverdueWork(delayed: 0, leases: 0))
        return NowPage(
            Examples().frame,
            snapshot: QueueSnapshot(queue: "q", at: .now, status: status, after: nil, batches: []),
            now: Examples.now)
    }

    @Test func `not all is well while a dead job waits for a person`() {
        for (dead, words) in [
            (1, "1 job has failed for good and waits for a person"),
            (7, "7 jobs have failed for good and wait for a person"),
        ] {
            let health = html(Self.page(dead: dead, active: 0, held: []), "health")
            #expect(health.contains("Attention") && health.contains(words), "\(health)")
            #expect(!health.contains("All is well") && health.contains("2 workers wait."))
        }
        #expect(html(Self.page(active: 0, held: []), "health").contains("All is well"))
    }

    @Test func `a worker that claims no jobs says why`() {
        let one = Self.page(active: 0, held: [], troubled: ["b"])
        #expect(
            html(one, "health").contains(
                "1 of 2 workers claims no jobs. b: the disk of b is away."))
        #expect(html(one, "health").contains("Attention"))
        #expect(html(one, "workers").contains("claims no jobs"))
        let both = Self.page(active: 0, held: [], troubled: ["a", "b"])
        #expect(html(both, "health").contains("Trouble"))
        #expect(
            html(both, "health").contains("2 of 2 workers claim no jobs. a: the disk of a is away.")
        )
    }

    @Test func `jobs in hand are the same number in each part of the page`() {
        // The count of the states is of another moment than the list, as Redis answers one after the other.
        let page = Self.page(active: 1, held: ["a", "a", "b"], ready: 1)
        #expect(html(page, "health").contains("2 workers run; 3 jobs are in hand, and 1 waits."))
        #expect(html(page, "workers").contains("2 jobs in hand, 2 slots"))
        #expect(html(page, "workers").contains("1 job in hand, 2 slots"))
        #expect(page.running.count == 3 && page.moreRunning == nil)
        #expect(page.funnel.steps.first { $0.name == "active" }?.count == "3")
        let many = Self.page(
            active: 400, held: Array(repeating: "a", count: QueueStatus.heldMax))
        #expect(html(many, "health").contains("400 jobs are in hand"))
        #expect(html(many, "workers").contains("1 of 2 slots busy at its last report"))
    }

    @Test func `a curve tells its values in words`() {
        var examples = Examples()
        #expect(html(examples.now, "sparks").contains("least 0, most 1 in the last hour"))
        examples.fill = .empty
        #expect(html(examples.now, "sparks").contains("Nothing is known of the last hour yet."))
    }

    @Test(arguments: [0, 1, .max, .min, -1]) func `no number that a worker says stops a page`(
        _ number: Int
    ) {
        let worker = WorkerInfo(
            name: "w", slots: number, busy: number, version: "1", startedAt: "",
            memory: WorkerMemory(budgetBytes: number, grantedBytes: number, waiting: number))
        _ = WorkerRow(worker, inHand: nil)
        _ = WorkerRow(worker, inHand: number)
        _ = FlowBar(
            .init(priority: "normal", tenant: "t", ready: number, start: 0, isCapped: false),
            most: number, share: .init(had: .nan, due: .infinity))
        _ = Spark("Jobs", [Double(number), .nan, .infinity], unit: "a second")
        #expect(!grouped(number).isEmpty)
    }

    @Test(arguments: [0, -1, Examples.now, 253_402_300_799_000]) func `a time is told to now`(
        _ milliseconds: Int
    ) {
        let page = AuditPage(
            Examples().frame, who: nil,
            rows: [
                AuditRow(
                    at: Moment(milliseconds, now: Examples.now), who: "w", action: "a",
                    subject: nil,
                    count: nil)
            ], next: nil)
        #expect(page.render().contains("<time datetime="))
    }

    private func html(_ page: some Page, _ part: String) -> String { page.fragment(part) }
}
