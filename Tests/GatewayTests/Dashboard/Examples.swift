import Edits
import Dashboard
@testable import JobQueue
@testable import Operations

/// A page of each kind, with values of one moment.
struct Examples {
    /// How full the pages are.
    enum Fill: Sendable, CaseIterable { case full, empty }

    /// Stands in every place for what a stranger has written; nil for what people write.
    var hostile: String?
    var fill = Fill.full
    /// 2026-11-21T06:00:00Z.
    static let now = 1_795_240_800_000

    func text(_ usual: String) -> String { hostile ?? usual }
    func many<Value>(_ count: Int = 3, _ make: (Int) throws -> Value) rethrows -> [Value] {
        fill == .empty ? [] : try (0..<count).map(make)
    }
    func maybe<Value>(_ value: Value) -> Value? { fill == .empty ? nil : value }

    var frame: Frame {
        Frame(
            viewer: Viewer(
                name: text("night shift"), tenant: maybe(text("acme")),
                scopes: ["enqueue", "read", "operate", "admin"]),
            csrf: text("c5r"), version: "0.19.0", queue: text("photos"),
            notice: maybe(Notice(.done, text("The batch autumn is cancelled."))))
    }

    var all: [(name: String, page: any Page)] {
        [
            ("now", now), ("find", find), ("job", job), ("batches", batches), ("batch", batch),
            ("dead", dead), ("dead-list", deadList), ("replay-preview", preview),
            ("replay", replay), ("asset", asset), ("limits", limits), ("doctor", doctor),
            ("keys", keys), ("webhooks", webhooks), ("webhook", webhook), ("audit", audit),
            ("signin", signIn), ("signed-in", signedIn), ("problem", problem),
        ]
    }

    // MARK: Values of the queue

    func record(_ number: Int, _ state: JobState = .active) -> JobRecord {
        let isOver = state == .dead || state == .done
        let message =
            state == .dead
            ? text("writing acme/edits/IMG_4210/7.jpg failed: no space left on device") : nil
        return JobRecord(
            job: text("acme.order-\(77 + number)-photo-\(number)"), format: 3, state: state,
            asset: text("acme/2026/11/IMG_\(4210 + number * 7).JPG"), tenant: text("acme"),
            priority: "normal", batch: number % 2 == 0 ? text("autumn") : nil, generation: 1,
            attempts: state == .dead ? 3 : number % 3, crashes: 0,
            worker: text("render-\(number % 3 + 1).photos.example"),
            enqueued: Self.now - 90_000 - number * 1000, claimed: Self.now - 2400 * (number + 1),
            ended: isOver ? Self.now - number * 61_000 : nil,
            code: state == .dead ? .noSpace : nil,
            message: message, fence: "12", version: nil, outcome: nil,
            stage: text(["rendering", "publishing", "waiting"][number % 3]),
            progress: number == 1 ? JobProgress(framesDone: 1032, frames: 2400) : nil, group: nil,
            cancel: nil)
    }

    func report(_ number: Int, isOver: Bool = false) -> BatchReport {
        BatchReport(
            BatchRecord(
                batch: text("autumn-\(number)"), tenant: text("acme"), folder: nil,
                priority: "bulk",
                opened: Self.now - 5_400_000, sealed: 1_000_000, sealedBecause: nil,
                admitted: 700_000, lane: isOver ? 0 : 300_000,
                done: isOver ? 999_787 : 412_380 / (number + 1), dead: number == 1 ? 0 : 213,
                cancelled: 0, generation: 1, ended: isOver ? Self.now - 60_000 : nil, cancel: nil,
                cap: number == 0 ? 64 : nil, milliseconds: 77_000_000, costTotal: nil,
                costEnded: 0, now: Self.now), slots: 24)
    }

    var status: QueueStatus {
        let isFull = fill == .full
        let tenants = ["acme", "blossom", "cumulus", "delta-news", "evergreen-prints"]
        return QueueStatus(
            jobs: isFull
                ? [
                    .incoming: 1204, .lane: 300_000, .ready: 12_408, .delayed: 37, .parked: 12,
                    .active: 24, .dead: 213,
                ] : [:], paused: nil, ingressHold: nil,
            flows: many(tenants.count) { number in
                QueueStatus.Flow(
                    priority: number == 4 ? "bulk" : "normal", tenant: text(tenants[number]),
                    ready: [9800, 1930, 640, 38, 0][number], start: number, isCapped: number == 1)
            },
            counters: isFull ? ["completed": 8_412_093] : [:],
            held: many(20) { record($0) }, stuckJobs: [],
            workers: many(3) { number in
                WorkerInfo(
                    name: text("render-\(number + 1).photos.example"), slots: 8, busy: 8,
                    version: "0.19.0", startedAt: "2026-11-20T21:14:05Z",
                    memory: WorkerMemory(
                        budgetBytes: 6_000_000_000,
                        grantedBytes: [4_100, 5_800, 2_300][number]
                            * 1_000_000, waiting: number == 1 ? 2 : 0)
                ).with(
                    busy: 8,
                    memory: WorkerMemory(
                        budgetBytes: 6_000_000_000,
                        grantedBytes: [4_100, 5_800, 2_300][number]
                            * 1_000_000, waiting: number == 1 ? 2 : 0),
                    pressure: number == 1
                        ? .init(
                            level: "holding", paused: 0,
                            reading: text("memory.high reached 3 times"))
                        : nil, trouble: nil)
            }, silentWorkers: [], overdue: OverdueWork(delayed: 0, leases: 0))
    }
}
