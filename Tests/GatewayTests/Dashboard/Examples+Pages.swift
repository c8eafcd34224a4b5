import Edits
import Dashboard
import FoundationEssentials
@testable import JobQueue
@testable import Operations

extension Examples {
    private var digest: String { String(repeating: "0a1b2c3d", count: 8) }

    private func spark(_ number: Int) -> Spark {
        let values: [Double] = (0..<120).map { step in
            let swing = Double((step * 7919) % 23)
            let burst = step > 70 && step < 84 ? Double(step % 5) / 4 : 0
            return number == 0 ? 40 + swing - Double(step % 30) / 3 : burst
        }
        return Spark(
            number == 0 ? "Jobs a second" : "Failures a second", values, unit: "per second",
            isTrouble: number == 1)
    }

    var now: NowPage {
        NowPage(
            frame,
            snapshot: QueueSnapshot(
                queue: "photos", at: Date(timeIntervalSince1970: Double(Self.now) / 1000),
                status: status, after: nil, batches: many { report($0) },
                moreBatches: maybe(980) ?? 0),
            sparks: many(2) { spark($0) },
            shares: fill == .empty
                ? [:]
                : [
                    "normal:acme": .init(had: 0.48, due: 0.5),
                    "normal:blossom": .init(had: 0.11, due: 0.25),
                ],
            now: Self.now)
    }

    var find: FindPage {
        FindPage(
            frame, query: maybe(text("acme")),
            groups: [
                FindGroup(
                    "Jobs",
                    many { .job(text("acme.order-\($0)"), state: "ready", note: text("12 ahead")) }),
                FindGroup(
                    "Batches", many(1) { _ in .batch(text("autumn"), note: text("41 %")) }),
                FindGroup(
                    "Assets",
                    many(1) { _ in .asset(text("acme/IMG 1.JPG"), note: text("7 versions")) },
                    hasMore: true),
                FindGroup(
                    "Tenants",
                    many(1) { _ in
                        .dead(
                            text("acme"), DeadSelection(tenant: text("acme")),
                            note: text("213 dead"))
                    }),
            ])
    }

    var job: JobPage {
        let record = record(2, .dead)
        return JobPage(
            frame, job: record.job, state: text("dead"),
            sentence: text(
                "dead: 3 attempts failed, the last with noSpace; a replay starts it again"),
            facts: JobPage.facts(record), asset: maybe(record.asset),
            timeline: fill == .empty ? [] : JobPage.timeline(record),
            attempts: many { number in
                AttemptRow(
                    at: Moment(Self.now - number * 40_000),
                    code: ["noSpace", "renderCrashed"][number % 2],
                    message: text("writing 7.jpg failed: no space left on device"),
                    stage: maybe(text("publishing")), signal: number == 1 ? 11 : nil,
                    worker: text("render-1.photos.example"))
            },
            edit: maybe(
                JobPage.EditView(
                    steps: [
                        EditStep(
                            name: text("CISepiaTone"), parameters: [text("inputIntensity 0.8")]),
                        EditStep(
                            name: text("CIExposureAdjust"), parameters: [text("inputEV 0.35 stops")]
                        ),
                    ], output: text("format jpeg, quality 90"),
                    json: text(#"{"filters":[{"name":"CISepiaTone","inputIntensity":0.8}]}"#),
                    note: text("The newer of two edits."))),
            progress: maybe(43), isCancellable: fill == .full, isReplayable: fill == .full,
            makesDraft: fill == .full)
    }

    var batches: BatchesPage {
        BatchesPage(
            frame, open: many { report($0) }.map(BatchRow.init), moreOpen: maybe(980) ?? 0,
            ended: many { report($0 + 3, isOver: true) }.map(BatchRow.init),
            moreEnded: maybe(1_204) ?? 0)
    }

    var batch: BatchPage {
        BatchPage(
            frame, report: report(0), slots: 24,
            failures: fill == .empty ? [:] : [text("noSpace"): 180, "damagedPhoto": 33],
            pictures: many(8) {
                Picture(asset: text("acme/2026/IMG_\($0).JPG"), version: text("7"))
            })
    }

    private var groups: [DeadGroupRow] {
        many { number in
            DeadGroupRow(
                code: ["noSpace", "damagedPhoto", text("renderCrashed")][number],
                tenant: text("acme"),
                edit: number == 2 ? nil : digest, editText: text("sepia, exposure"),
                count: [180, 31, 2][number], first: Moment(Self.now - 7_200_000, now: Self.now),
                last: Moment(Self.now - 61_000, now: Self.now))
        }
    }

    private var selection: DeadSelection {
        fill == .empty
            ? DeadSelection()
            : DeadSelection(
                tenant: text("acme"), code: text("noSpace"), edit: text(digest),
                batch: text("autumn"),
                since: text("2h"), until: text("2026-11-21T06:00:00Z"))
    }

    var dead: DeadPage {
        DeadPage(
            frame, total: fill == .empty ? 0 : 213, groups: groups, left: fill == .empty ? 0 : 4)
    }

    var deadList: DeadPage {
        DeadPage(
            frame, total: 213, groups: [],
            list: .init(
                selection, jobs: many(12) { JobRow(record($0, .dead), now: Self.now) },
                next: maybe(text("cursor"))))
    }

    var preview: ReplayPreviewPage {
        ReplayPreviewPage(
            frame, selection: selection, until: maybe(Moment(Self.now)),
            expected: fill == .empty ? 0 : 180,
            counts: many(1) { _ in Fact(text("noSpace"), "180") },
            rate: maybe(50), cost: maybe(text("about 34 s of a slot")),
            eta: maybe(text("about 4 s")),
            sample: many { JobRow(record($0, .dead), now: Self.now) })
    }

    var replay: ReplayPage {
        ReplayPage(
            frame, id: text("r-1"), selection: selection, by: text("night shift"),
            started: Moment(Self.now - 30_000, now: Self.now), phase: .running, replayed: 120,
            refused: 2, total: 180, rate: maybe(50), eta: maybe(text("about 2 s")),
            message: maybe(text("Redis was away for 3 s.")))
    }

    var limits: LimitsPage {
        LimitsPage(
            frame, paused: hostile,
            tenants: many { number in
                TenantRow(
                    number: number, tenant: text(["acme", "blossom", "cumulus"][number]),
                    cap: [nil, 8, 0][number], weight: [2, nil, nil][number],
                    ready: [9800, 1930, 640][number], running: [16, 8, 0][number])
            }, moreTenants: maybe(980) ?? 0)
    }

    var doctor: DoctorPage {
        var diagnosis = Diagnosis()
        diagnosis.open = many(2) { number in
            Finding(
                kind: number == 0 ? .publicationStuck : .runningMiscounted, subject: text("acme.1"),
                detail: text("4/3"), isMended: false)
        }
        diagnosis.mended = many(1) { _ in
            Finding(kind: .flowEmpty, subject: text("normal:acme"), detail: "", isMended: true)
        }
        diagnosis.warnings = many(1) { _ in
            text("The stream of batch autumn has 3 entries too many.")
        }
        diagnosis.places = 13_204
        return DoctorPage(frame, diagnosis)
    }

    var keys: KeysPage {
        KeysPage(
            frame,
            keys: many { number in
                KeyRow(
                    id: text("7Fq2k9aLm3x\(number)"), label: text("shop"),
                    tenant: number == 2 ? nil : text("acme"), prefix: text("acme/"),
                    scopes: ["enqueue", "read"], state: ["active", "expired", "revoked"][number],
                    created: Moment(Self.now - 864_000_000, now: Self.now),
                    expires: number == 2 ? nil : Moment(Self.now + 864_000_000, now: Self.now),
                    used: Moment(Self.now - 4000, now: Self.now))
            },
            created: maybe(Secret(name: text("shop"), secret: text("mlk_7Fq2k9aLm3x0_secret_crc"))),
            form: KeyForm(
                label: maybe(text("shop")), tenant: maybe(text("acme")),
                prefix: maybe(text("acme/")),
                days: maybe(text("90")), error: maybe(text("tenant a.b has a dot."))))
    }

    private func endpoint(_ number: Int) -> EndpointRow {
        EndpointRow(
            id: text("we\(number)"), url: text("https://shop.example/hooks/minilab"),
            types: ["batch.completed", text("failed")], tenant: maybe(text("acme")),
            reason: number == 1 ? text("It answered 410.") : nil, lag: maybe(text("2 s")),
            parked: number == 2 ? 12 : 0)
    }

    var webhooks: WebhooksPage {
        WebhooksPage(
            frame, endpoints: many { endpoint($0) }, moreEndpoints: maybe(980) ?? 0,
            created: maybe(
                Secret(name: text("https://shop.example"), secret: text("whsec_c2VjcmV0"))),
            form: EndpointForm(
                types: ["batch.completed", "failed", "completed"],
                chosen: ["batch.completed", "failed"],
                url: maybe(text("https://shop.example")), error: maybe(text("10.0.0.1 is private."))
            ))
    }

    var webhook: WebhookPage {
        WebhookPage(
            frame, endpoint: endpoint(fill == .empty ? 0 : 1),
            deliveries: many { number in
                DeliveryRow(
                    endpoint: text("we1"), id: text("d\(number)"),
                    at: Moment(Self.now - number * 5000, now: Self.now),
                    type: text("batch.completed"),
                    subject: text("autumn"), state: ["delivered", "waiting", "failed"][number],
                    tries: number + 1, answer: text("503"),
                    next: number == 1 ? Moment(Self.now + 60_000, now: Self.now) : nil)
            }, next: maybe(text("cursor")))
    }

    var audit: AuditPage {
        AuditPage(
            frame, who: maybe(text("night shift")),
            rows: many { number in
                AuditRow(
                    at: Moment(Self.now - number * 100_000), who: text("night shift"),
                    action: text(["replay", "pause", "cancel batch"][number]),
                    subject: text(["code noSpace, tenant acme", "disk full", "autumn"][number]),
                    count: number == 0 ? 180 : nil)
            }, next: maybe(text("cursor")))
    }

    var signIn: SignInPage {
        SignInPage(
            Frame(viewer: nil, csrf: text("c5r"), version: "0.19.0"),
            problem: maybe(text("This key was revoked.")), next: maybe(text("/dead?code=noSpace")),
            provider: maybe("Example <Photos>"))
    }

    var signedIn: SignedInPage {
        SignedInPage(
            Frame(viewer: nil, csrf: "", version: "0.19.0"), next: "/dead?code=noSpace&tenant=acme")
    }

    var problem: ProblemPage {
        ProblemPage(
            Frame(viewer: nil, csrf: text("c5r"), version: "0.19.0"), status: 404,
            title: text("There is no such job"),
            detail: text("No job is called acme.order-99, or it is somebody else’s."),
            advice: maybe(text("Look for its asset.")), code: maybe(text("unknownJob")))
    }

    var asset: AssetPage {
        let path = text("acme/2026/11/IMG_4210.JPG")
        return AssetPage(
            frame, asset: path,
            choices: fill == .empty
                ? []
                : [
                    .init(name: "original", label: "the original"),
                    .init(name: text("0007"), label: text("7 · sepia, exposure")),
                    .init(name: text("0006"), label: text("6 · sepia")),
                ], before: maybe("original"), after: maybe(text("0007")),
            diff: fill == .empty
                ? []
                : [
                    "  0  CISepiaTone", text("~ 1  CIExposureAdjust"),
                    text("~      inputEV 0.2 → 0.35"),
                    text("+ 2  CIVignette"), text("+      inputRadius 1"),
                    text("- 3  CISharpenLuminance"),
                ],
            versions: many(4) { number in
                VersionRow(
                    asset: path, version: text("000\(7 - number)"), revision: 7 - number,
                    text: text(["sepia, exposure", "sepia", "exposure", "crop"][number]),
                    author: text("app 3.2"),
                    at: Moment(Self.now - number * 86_400_000, now: Self.now),
                    marks: [["current"], ["undo"], ["redo"], []][number], isCollected: number == 3)
            },
            undo: maybe(.init(to: text("6 · sepia"), isKept: true)),
            redo: maybe(.init(to: text("5 · exposure"), isKept: false)),
            draft: maybe(
                .init(version: text("d1"), label: text("8 · vignette"), isStale: hostile != nil)),
            verification: maybe([
                text("7.jpg is as it was written"), text("7.aae is as it was written"),
            ]),
            isVerified: true, jobs: many(2) { JobRow(record($0), now: Self.now) })
    }
}
