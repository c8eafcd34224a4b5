import Dashboard
import Testing

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
        _ = WorkerRow(worker)
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
