import AccessKeys
import Edits
import Files
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JobQueue
import Library
import Operations

enum DeadRoutes {
    static let routes: [Route] = [
        Route(
            .get, "/v1/dead", .key(.operate), name: "listDead", group: "dead",
            "Dead jobs, oldest first. A page of a selective filter may be empty and still have `next` for the next "
                + "page.",
            parameters: filters + [
                .query("count", "How many at most.", schema: .integer(1...countMax)),
                .query(
                    "after", "The cursor of the page before.",
                    schema: given(
                        .text(4...256, pattern: "^[0-9]{1,15},[0-9]{1,15},[!-~]{0,200}$"))),
            ],
            answers: [
                .init(
                    .ok, "The jobs.",
                    .fields(["dead": .list(.schema("DeadJob")), "next?": .text]))
            ], problems: [.notFound], handle: list),
        Route(
            .get, "/v1/dead/groups", .key(.operate), name: "groupDead", group: "dead",
            "Dead jobs, counted by cause: code, tenant, edit.",
            answers: [.init(.ok, "The groups, the largest first.", .schema("DeadGroups"))]
        ) { call in
            try .json(try await groups(call))
        },
        Route(
            .get, "/v1/jobs/{id}/bundle", .key(.operate), name: "readBundle", group: "dead",
            "The files and facts that reproduce a job's failure.",
            parameters: [.path("id", "The job.")],
            answers: [.init(.ok, "The bundle.", .schema("Bundle"))]
        ) { call in
            let job = try call.key.stored(inPath: call.parameter("id"))
            return try .json(try await bundle(of: job, call))
        },
    ]

    private static let countMax = 200
    /// Dead jobs that one call inspects. With a filter that matches few of a million jobs, a call would inspect all of
    /// them for minutes. With this limit, the caller continues from the cursor.
    private static let checkedMax = 1000

    /// Returns a schema that also allows an empty value, because an empty field of a form sets no condition.
    private static func given(_ schema: JSONValue) -> JSONValue { .any(schema, .text(0...0)) }

    static let filters: [Route.Parameter] = [
        .query("batch", "Of this batch.", schema: given(.schema("BatchID"))),
        .query("tenant", "Of this tenant.", schema: given(.schema("ID"))),
        .query(
            "code", "That died of this code; may be given again.",
            schema: given(.choice(FailureCode.allCases.map(\.rawValue)))),
        .query(
            "since", "That died at this time or later, or so long ago: 2h.",
            schema: given(.schema("When"))),
        .query(
            "until", "That died at this time or before, or so long ago.",
            schema: given(.schema("When"))),
        .query(
            "edit", "That have the edit with this SHA-256.", schema: given(.schema("SHA256"))),
    ]

    /// Returns the causes of death among the jobs that the caller may see. Those of the whole queue are counted as jobs die. For
    /// fewer jobs, the dead ones are read one by one, up to ``DeadTally/countedMax``.
    static func groups(_ call: Call) async throws -> DeadGroups {
        let reach = try call.key.reach
        if reach.isEverything { return try await call.parts.queue.deadGroups() }
        return try await tally(DeadFilter(reach), call).groups
    }

    /// Counts dead jobs: a costly call, of which each page is read in its caller's turn. 50,000 jobs of four calls at a time would keep
    /// Redis from others.
    static func tally(_ filter: DeadFilter, _ call: Call) async throws -> DeadTally {
        let (permits, key) = (call.parts.permits, try call.key)
        return try await permits.costly(of: key) {
            var tally = DeadTally()
            var reader = try await DeadReader(call.parts.queue, filter)
            while tally.isComplete {
                let (page, after) = try await permits.reading(of: key) { [reader] in
                    var reader = reader
                    return (try await reader.next(), reader)
                }
                reader = after
                guard let page else { break }
                tally.add(page)
            }
            return tally
        }
    }

    /// Returns the filter of the query, of jobs that the caller may see.
    static func filter(_ call: Call) async throws -> DeadFilter {
        var text = DeadFilterText()
        text.batch = call.query("batch")
        text.tenant = call.query("tenant")
        text.codes = call.queries("code")
        text.since = call.query("since")
        text.until = call.query("until")
        text.edit = call.query("edit")
        do {
            return try await filter(text, call)
        } catch let failure as Failure {
            throw Problem(.badParameter, failure.message)
        }
    }

    /// Returns the filter of a request, of jobs that the caller may see.
    ///
    /// - Throws: `notFound` if it names a tenant that is not the caller's; `invalidValue`.
    static func filter(_ text: DeadFilterText, _ call: Call) async throws -> DeadFilter {
        let reach = try call.key.reach
        if let tenant = text.tenant, !reach.covers(tenant: tenant) {
            throw Problem(
                .notFound, "There is no tenant \(String(tenant.prefix(200)).debugDescription).")
        }
        var text = text
        // The caller's own name of a batch means the stored one, as in the paths of batches.
        if let batch = text.batch, JobID.isAllowed(batch) {
            text.batch = try call.key.stored(batch: JobID(batch)).string
        }
        // Deaths have the time of the queue's server, and this machine's clock may be another.
        let now = Date(timeIntervalSince1970: Double(try await call.parts.queue.now()) / 1000)
        return try text.filter(reach, now: now) { $0 }
    }

    private struct Answer: Encodable {
        let dead: [JobRecord]
        let next: String?
    }

    private static func list(_ call: Call) async throws -> Response {
        let count = try call.number("count", in: 1...countMax) ?? 50
        let page = try await page(call, count: count)
        return try .json(Answer(dead: page.jobs, next: page.next))
    }

    /// Returns the matching jobs among those that one call inspects, and the cursor behind them if there may be more.
    static func page(
        _ call: Call, count: Int
    ) async throws -> (jobs: [JobRecord], next: String?) {
        let key = try call.key
        var position: DeadReader.Position?
        if let text = call.query("after") {
            do throws(Failure) {
                position = try DeadReader.Position(text)
            } catch {
                throw Problem(.badParameter, error.message)
            }
        }
        var reader = try await DeadReader(
            call.parts.queue, try await filter(call), after: position)
        let start = reader.position.from
        var jobs: [JobRecord] = []
        var checked = 0
        // Jobs that died in one millisecond are inspected by one call: see the cursor below.
        while jobs.count < count, checked < checkedMax || reader.position.from == start {
            let step = max(count - jobs.count, 1)
            let (page, after) = try await call.parts.permits.reading(of: key) { [reader] in
                var reader = reader
                return (try await reader.next(step), reader)
            }
            reader = after
            guard let page else { return (jobs, nil) }
            checked += min(step, DeadReader.pageMax)
            jobs += page.compactMap { key.view.view($0) }
        }
        if key.reach.isEverything { return (jobs, reader.position.description) }
        // The last job that was inspected may be another's, and the cursor has its name.
        let last = jobs.last { $0.ended == reader.position.from }?.job
        return (jobs, reader.position.behind(last).description)
    }

    /// Returns the facts that a failure report needs.
    ///
    /// - Throws: `notFound` if the job is missing or not the caller's; `tooManyRequests`.
    static func bundle(of job: String, _ call: Call) async throws -> ReproBundle {
        let key = try call.key
        let found = try await JobView.find(job, call)
        guard let record = try await call.parts.queue.record(of: job),
            let shown = key.view.view(record)
        else { throw JobView.unknown(job) }
        let edit = try await call.parts.queue.edit(of: record)
        // The whole original is read.
        let permits = call.parts.permits
        return try await permits.costly(of: key) {
            try await permits.walking(of: key) {
                ReproBundle(
                    shown, edit: edit, history: found.attempts,
                    original: try await original(
                        of: record.asset, call, hidesPath: key.tenant != nil))
            }
        }
    }

    private static func original(
        of asset: String, _ call: Call, hidesPath: Bool
    ) async throws -> ReproBundle.Original {
        do throws(Failure) {
            let file = try await call.parts.library.open(.original(AssetPath(asset)), nil)
            let digest = try await FileDigest.digest(of: file)
            return .init(
                path: hidesPath ? nil : file.name, sha256: digest.hex, bytes: digest.bytes,
                trouble: nil)
        } catch {
            // The missing original may be the very reason why the job died, unless the library is missing now.
            try await call.believeAbsence()
            return .init(
                path: nil, sha256: nil, bytes: nil,
                trouble: hidesPath ? PublicMessage.of(error.message) : error.message)
        }
    }
}
