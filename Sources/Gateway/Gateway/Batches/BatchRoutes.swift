import AccessKeys
import Edits
import HTTPTypes
import Hummingbird
import JobQueue
import Operations

/// The routes of batches. A batch is many jobs with one edit that are counted together.
enum BatchRoutes {
    static let routes: [Route] = [
        Route(
            .post, "/v1/batches", .key(.enqueue), name: "openBatch", group: "batches",
            "Opens a batch. The same request again changes nothing.",
            body: .json(.schema("BatchRequest")),
            answers: [
                .init(.created, "It is open.", .schema("Batch"), headers: ["Location"]),
                .init(.ok, "It was opened before, with the same edit.", .schema("Batch")),
            ], problems: [.conflict, .notFound], handle: open),
        Route(
            .get, "/v1/batches", .key(.read), name: "listBatches", group: "batches",
            "Lists batches, the newest first.",
            parameters: [
                .query("open", "Only those that have not ended.", schema: .flag),
                .query("count", "How many at most.", schema: .integer(1...listedMax)),
            ],
            answers: [
                .init(
                    .ok, "The batches, and how many more there are.",
                    .fields(["batches": .list(.schema("Batch")), "more": .count]))
            ], handle: list),
        Route(
            .get, "/v1/batches/{batch}", .key(.read), name: "readBatch", group: "batches",
            "The progress of a batch.",
            parameters: [.path("batch", "The batch.", schema: .schema("BatchID"))],
            answers: [.init(.ok, "The batch.", .schema("Batch"))], handle: read),
        Route(
            .put, "/v1/batches/{batch}/members", .key(.enqueue), name: "addMembers",
            group: "batches",
            "Adds jobs to a batch, one per line, from a given number. Jobs that are already in the batch are not added again. A line that is no job gets no number and stops no other: the problem names such lines after the others are added.",
            parameters: [
                .path("batch", "The batch.", schema: .schema("BatchID")),
                .query(
                    "from", "The number of the first line's job in the batch, from 0.",
                    schema: .integer(0...ContractLimits.batchJobsMax)),
            ], body: .lines(.schema("Member")),
            answers: [.init(.ok, "All lines were taken.", .schema("MembersTaken"))],
            problems: [.conflict], handle: addMembers),
        Route(
            .post, "/v1/batches/{batch}/seal", .key(.enqueue), name: "sealBatch", group: "batches",
            "Sets the number of jobs of a batch. The batch is complete when that many have ended.",
            parameters: [.path("batch", "The batch.", schema: .schema("BatchID"))],
            body: .json(.schema("Seal")),
            answers: [.init(.ok, "It is sealed.", .schema("Batch"))],
            problems: [.conflict], handle: seal),
        Route(
            .post, "/v1/batches/{batch}/cancel", .key(.enqueue), name: "cancelBatch",
            group: "batches", "Cancels all jobs of a batch that have not ended.",
            parameters: [.path("batch", "The batch.", schema: .schema("BatchID"))],
            body: .optionalJSON(.schema("Reason")),
            answers: [.init(.ok, "It is cancelled.", .schema("Batch"))],
            problems: [.conflict], handle: cancel),
    ]

    private static let listedMax = 200

    private static func open(_ call: Call) async throws -> Response {
        let sent = try await SentBatch(call).request
        let answer = try await call.parts.queue.submit(
            sent, folder: call.key.batchFolder,
            backlogMax: try call.key.quotas.backlogMax ?? call.parts.settings.backlogMax,
            storedMax: try call.storedMax)
        switch answer {
        case .created, .same:
            guard let record = try await call.parts.queue.record(of: sent.id) else {
                throw unknown(sent.id.string)
            }
            // Of a batch that another key opened for its own folder, not even the edit is told.
            guard record.isWithin(try call.key.reach) else { throw other(sent.id) }
            return try .json(
                BatchReport(record, slots: try await slots(call)),
                status: answer == .created ? .created : .ok,
                headers: [.location: "/v1/batches/\(sent.id)"])
        case .otherEdit: throw other(sent.id)
        case .nameUsed: throw nameUsed(sent.id)
        case .overQuota(let waiting, let most):
            throw Problem(
                .backlogFull,
                "\(waiting) jobs of this tenant have not ended, and \(most) are allowed. Open it when some have.",
                facts: ["waiting": .number(Double(waiting)), "max": .number(Double(most))],
                retryAfter: 10)
        case .overBytes(let stored, let most): throw Problem.storedFull(stored, most)
        }
    }

    private static func seal(_ call: Call) async throws -> Response {
        let (name, _) = try await find(call)
        let body = try SealBody(try await call.json())
        switch try await call.parts.queue.submitSeal(of: name, jobs: body.jobs, cost: body.cost) {
        case .sealed, .same: break
        case .unknownBatch: throw unknown(name.string)
        case .sealedBefore(let jobs):
            throw Problem(
                .conflict, "Batch \(name) is sealed at \(jobs) jobs.",
                facts: ["sealed": .number(Double(jobs))])
        case .given(let jobs):
            throw Problem(
                .conflict, "Batch \(name) has \(jobs) jobs already. Seal it at what it has.",
                facts: ["next": .number(Double(jobs))])
        case .nameUsed: throw nameUsed(name)
        }
        guard let record = try await call.parts.queue.record(of: name) else {
            throw unknown(name.string)
        }
        return try .json(BatchReport(record, slots: try await slots(call)))
    }

    private static func other(_ batch: BatchID) -> Problem {
        Problem(
            .conflict,
            "Batch \(batch) already exists with a different edit or folder. Use a new name.")
    }

    private static func nameUsed(_ batch: BatchID) -> Problem {
        Problem(
            .conflict, "A batch \(batch) has ended, and its name is remembered. Take another name.")
    }

    private static func list(_ call: Call) async throws -> Response {
        let count = try call.number("count", in: 1...listedMax) ?? 50
        let list = try await newest(call.flag("open") ? .open : .all, count: count, call)
        let slots = try await slots(call)
        return try .json(
            ListedBatches(
                batches: list.records.map { BatchReport($0, slots: slots) }, more: list.more))
    }

    private struct ListedBatches: Encodable {
        let batches: [BatchReport]
        let more: Int
    }

    /// Returns the newest of the batches that the caller may see.
    static func newest(
        _ part: BatchList.Part, count: Int, _ call: Call
    ) async throws -> BatchList {
        let key = try call.key
        var reader = BatchReader(call.parts.queue, part, within: key.reach, count: count)
        while true {
            let (list, after) = try await call.parts.permits.reading(of: key) { [reader] in
                var reader = reader
                return (try await reader.next(), reader)
            }
            reader = after
            if let list { return list }
        }
    }

    private static func read(_ call: Call) async throws -> Response {
        let (_, record) = try await find(call)
        return try .json(BatchReport(record, slots: try await slots(call)))
    }

    private static func addMembers(_ call: Call) async throws -> Response {
        let key = try call.key
        let name = try stored(call.name("batch"), key)
        let first = try call.number("from", in: 0...ContractLimits.batchJobsMax) ?? 0
        let permit = try call.parts.permits.members(of: key)
        defer { permit.close() }
        let folder = try await checkIsOwn(name, call)
        let edit = try await call.parts.queue.edit(of: name)
        return try .json(
            try await MemberUpload(
                to: name, in: folder, editedBy: edit, from: first, key,
                within: JobQueue.MemberLimits(
                    storedMax: try call.storedMax, mustBeOpen: key.tenant != nil),
                bytesMax: call.parts.settings.membersBytesMax, call.parts.queue
            ).receive(
                call.readable.body,
                within: MemberUpload.Border(
                    permits: call.parts.permits, pay: { try await call.pay($0) },
                    isConnected: { call.channel.isActive })))
    }

    private static func cancel(_ call: Call) async throws -> Response {
        let (name, _) = try await find(call)
        let reason = try ReasonBody(
            try await call.optionalJSON(), usual: "cancelled by its producer"
        ).reason
        try await end(name, reason: reason, call)
        guard let record = try await call.parts.queue.record(of: name) else {
            throw unknown(name.string)
        }
        return try .json(BatchReport(record, slots: try await slots(call)))
    }

    /// Cancels a batch. The caller checks before that it may.
    ///
    /// - Throws: `tooLate`, `notFound`.
    static func end(_ name: BatchID, reason: String, _ call: Call) async throws {
        switch try await call.parts.queue.cancelWhole(name, reason: reason).0 {
        case .ended: throw Problem(.tooLate, "Batch \(name) has ended; nothing is left to cancel.")
        case .unknown, .later, .damaged: throw unknown(name.string)
        case .cancelled, .notified, .publishing: break
        }
    }

    /// Finds the batch that the path names.
    ///
    /// - Throws: `notFound` if it is missing or not the caller's.
    static func find(_ call: Call) async throws -> (BatchID, BatchRecord) {
        try await find(stored(call.name("batch"), call.key), call)
    }

    /// Finds a batch by its name, as ``find(_:)``.
    static func find(named text: String, _ call: Call) async throws -> (BatchID, BatchRecord) {
        try await find(stored(JobID(text), call.key), call)
    }

    /// Returns the stored name of a batch. A name that is too long with the tenant's prefix names no batch.
    private static func stored(_ name: JobID, _ key: AccessKey) throws(Problem) -> BatchID {
        do throws(Failure) {
            return try key.stored(batch: name)
        } catch {
            throw unknown(name.string)
        }
    }

    private static func find(
        _ name: BatchID, _ call: Call
    ) async throws -> (BatchID, BatchRecord) {
        guard let record = try await call.parts.queue.record(of: name),
            record.isWithin(try call.key.reach)
        else { throw unknown(name.string) }
        return (name, record)
    }

    /// Refuses members for a batch that is not the caller's. A batch that nobody has opened has no record; only for a key that may
    /// add to any batch it passes, since another key of the tenant may open it for a folder of its own before the first member comes.
    ///
    /// - Returns: the folder of the batch, in which its members' assets must be, too.
    private static func checkIsOwn(_ name: BatchID, _ call: Call) async throws -> AssetPrefix {
        let reach = try call.key.reach
        guard let record = try await call.parts.queue.record(of: name) else {
            guard reach.isEverything else { throw MemberUpload.notOpen(name) }
            return .all
        }
        guard record.isWithin(reach) else { throw unknown(name.string) }
        return try AssetPrefix(record.folder ?? "")
    }

    static func slots(_ call: Call) async throws -> Int {
        try await call.parts.views.fleet.slots()
    }

    static func unknown(_ batch: String) -> Problem {
        Problem(
            .notFound,
            "There is no batch \(batch.debugDescription): its name is wrong, or its record was dropped some time after "
                + "it ended.")
    }
}

/// A batch as a client opens it, with the caller's tenant and prefix applied.
struct SentBatch {
    let request: BatchRequest

    /// - Throws: the fault of the body, with a JSON pointer.
    init(_ call: Call) async throws {
        let key = try call.key
        let text = try await call.text(atMost: ContractLimits.jobBytesMax)
        request = try await call.inTurn(text.utf8.count) {
            do throws(Failure) {
                return try Self.read(JSONValue(parsing: text, as: "the body"), key)
            } catch {
                throw Problem(error, in: text, roots: ["batch", "job"])
            }
        }
        try EditBorder(key).check(request.edit)
    }

    private static func read(
        _ json: JSONValue, _ key: AccessKey
    ) throws(Failure) -> BatchRequest {
        guard case .object(var fields) = json else {
            throw Failure(.invalidValue, "batch is \(json.kind); expected an object.")
        }
        guard case .string(let id)? = fields.removeValue(forKey: "id") else {
            throw Failure(.missingField, "batch.id is missing; it names the batch.")
        }
        let given = fields.removeValue(forKey: "cap") ?? .null
        let cap = given.whole(in: 1...ContractLimits.batchJobsMax)
        guard cap != nil || given == .null else {
            throw Failure(
                .invalidValue,
                "batch.cap is no whole number from 1 to \(ContractLimits.batchJobsMax).")
        }
        let others = ["asset", "notBefore", "deadline", "replace", "traceparent"]
        for name in others where fields[name] != nil {
            throw Failure(.unknownField, "batch.\(name) is not a field of a batch.")
        }
        // Edit and scheduling have the syntax of a job, so they are parsed as a job with a placeholder asset.
        fields["asset"] = .string("a")
        let job = try JobRequest(json: JSONValue.object(fields).canonical)
        var scheduling = job.scheduling
        if let tenant = key.tenant {
            guard scheduling.tenant == nil || scheduling.tenant == tenant else {
                throw Failure(.invalidValue, "batch.tenant is not the tenant of this key.")
            }
            scheduling.tenant = tenant
        }
        return BatchRequest(
            id: try key.stored(batch: JobID(id)), edit: job.edit, scheduling: scheduling, cap: cap)
    }
}

/// The body that seals a batch: the number of its jobs.
struct SealBody {
    let jobs: Int
    let cost: Int?

    /// - Throws: `badBody`.
    init(_ json: JSONValue) throws(Problem) {
        guard case .object(let fields) = json, Set(fields.keys).isSubset(of: ["jobs", "cost"]),
            let jobs = fields["jobs"]?.whole(in: 1...ContractLimits.batchJobsMax)
        else {
            throw Problem(
                .badBody,
                #"The body is no {"jobs": n} with n from 1 to \#(ContractLimits.batchJobsMax)."#)
        }
        self.jobs = jobs
        cost = fields["cost"]?.whole(in: 1...Int(1e15))
        guard cost != nil || fields["cost"] == nil else {
            throw Problem(.badBody, "cost is no whole number of milliseconds from 1.")
        }
    }
}
