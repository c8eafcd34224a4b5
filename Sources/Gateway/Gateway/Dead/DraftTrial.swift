import AccessKeys
import Edits
import Hummingbird
import JobQueue
import Library
import Operations

/// A trial of a dead job's edit as a draft, in a new job. The dead job stays dead, and the current version stays current.
enum DraftTrial {
    static let routes: [Route] = [
        Route(
            .post, "/v1/jobs/{id}/draft", .key(.operate), name: "tryAsDraft", group: "dead",
            "Tries a dead job's edit as a draft, in a separate job, before many similar jobs are replayed.",
            parameters: [.path("id", "The dead job.")],
            body: .optionalJSON(.schema("DraftTrial")),
            answers: [
                .init(
                    .accepted, "The job that makes the draft.", .schema("JobTaken"),
                    headers: ["Location", "Retry-After"])
            ], problems: [.conflict]
        ) { call in
            let job = try await start(call, with: try edit(try await call.optionalJSON()))
            return .json(
                .object(["job": .string(job), "state": .string("incoming")]), status: .accepted,
                headers: [
                    .location: "/v1/jobs/\(job)", .retryAfter: "\(Problem.retrySeconds)",
                ])
        }
    ]

    /// Starts a trial of the path's job.
    ///
    /// - Parameter other: the edit to try instead of the job's own.
    /// - Returns: the id of the job that makes the draft.
    /// - Throws: `notFound`; `tooLate` for a job that is not dead; `conflict` if the asset already has a draft, which
    ///   would be lost, if another edit of it is tried at the same moment, or if the edit makes no render; `backlogFull`.
    static func start(_ call: Call, with other: Edit? = nil) async throws -> String {
        let key = try call.key
        let dead = try key.stored(inPath: call.parameter("id"))
        _ = try await JobView.find(dead, call)
        let queue = call.parts.queue
        guard let record = try await queue.record(of: dead), record.state == .dead else {
            throw Problem(
                .tooLate, "Job \(dead) is not dead; a dead job alone is tried as a draft.")
        }
        let asset = try AssetPath(record.asset)
        let edit = try await draft(other, or: record, key, queue)
        // Chosen ahead of the check: of the calls that find no draft, one alone gets the name, because `submit` asks whether it is free.
        let name = try await freeName(for: asset, call)
        try await checkHasNoDraft(asset, call)
        var scheduling = Scheduling()
        scheduling.tenant = try JobID(record.tenant)
        // A person waits for the result at the page.
        scheduling.priority = .interactive
        let request = JobRequest(
            id: name, asset: asset, edit: edit, fields: try await fields(of: record, queue),
            scheduling: scheduling)
        let conflict = Problem(
            .conflict,
            "Another edit of \(asset.string.debugDescription) is tried as a draft at this moment, by job \(name). Look at its result first."
        )
        let job = try await JobRoutes.send(request, call, conflict: conflict).job
        try await call.note("tryAsDraft", "\(dead): \(job)")
        return job
    }

    /// The most trials of one asset whose names are remembered: a person has looked at each result.
    private static let trialsMax = 50

    /// Returns the first name of a trial of the asset that no job has or had.
    private static func freeName(
        for asset: AssetPath, _ call: Call
    ) async throws -> JobID {
        let workers = try await call.parts.views.fleet.workers()
        let digest = SHA256.hash(data: asset.string.utf8).prefix(12).hex
        for number in 1...trialsMax {
            let name = try call.key.stored(job: JobID("jt\(digest)-\(number)"))
            let facts = try await call.parts.queue.facts(of: name.string, among: workers)
            if !facts.isKnown { return name }
        }
        throw Problem(
            .conflict,
            "\(asset.string.debugDescription) was tried as a draft \(trialsMax) times lately. Send the next edit as a job with \"draft\": true."
        )
    }

    private static func edit(_ json: JSONValue?) throws -> Edit? {
        guard let json else { return nil }
        guard case .object(let fields) = json, fields.keys.allSatisfy({ $0 == "withEdit" }) else {
            throw Problem(.badBody, "The body may have the field withEdit, an edit, and no other.")
        }
        return try fields["withEdit"].map { try Edit(json: $0.canonical) }
    }

    private static func draft(
        _ other: Edit?, or record: JobRecord, _ key: AccessKey, _ queue: JobQueue
    ) async throws -> Edit {
        var edit = other
        if edit == nil { edit = try await queue.edit(of: record).map { try Edit(json: $0) } }
        guard let edit else {
            throw Problem(.tooLate, "The edit of job \(record.job) is not kept any more.")
        }
        try EditBorder(key).check(edit)
        guard edit.mode.name.canBeDraft else {
            throw Problem(
                .conflict,
                "The edit's mode is \(edit.mode.name.rawValue), which makes no render that could be a draft. Replay the job itself."
            )
        }
        return Edit(
            edit.mode, output: edit.output, renditions: edit.renditions, isDraft: true,
            statesStrip: edit.statesStrip)
    }

    /// Returns the values of the dead job, which fill in the placeholders of its edit, or of another one.
    private static func fields(
        of record: JobRecord, _ queue: JobQueue
    ) async throws -> AssetFields? {
        guard let text = try await queue.fields(of: record) else { return nil }
        do throws(Failure) { return try AssetFields(json: text) } catch {
            // The reason of its death, perhaps; the trial's edit does without.
            return nil
        }
    }

    private static func checkHasNoDraft(_ asset: AssetPath, _ call: Call) async throws {
        let history: History
        do throws(Failure) {
            history = try await call.parts.library.versions(of: asset)
        } catch {
            // Without its asset, the trial fails as the dead job did. That is a result, too.
            guard error.code == .missingAsset else { throw error }
            return try await call.believeAbsence()
        }
        guard !history.entries.contains(where: { $0.marks.contains(.draft) }) else {
            throw Problem(
                .conflict,
                "The asset \(asset.string.debugDescription) has a draft already, which this one would replace. Publish it or discard it first."
            )
        }
    }
}
