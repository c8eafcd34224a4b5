import AccessKeys
import Edits
import Dashboard
import FoundationEssentials
import Hummingbird
import JobQueue
import Operations

enum JobPages {
    static let routes: [Route] = [
        Route(.get, "/jobs/{id}", .page(.read), "A job: why it is where it is.") { call in
            .page(try await page(call.parameter("id"), call))
        },
        Route(.post, "/jobs/{id}/cancel", .page(.enqueue), "Cancels a job.", handle: cancel),
        Route(
            .post, "/jobs/{id}/replay", .page(.operate), "Starts a dead job again.", handle: replay),
        Route(
            .post, "/jobs/{id}/draft", .page(.operate), "Tries a dead job's edit as a draft."
        ) { call in
            _ = try await call.form()
            return Call.seeOther(Links.job(try await DraftTrial.start(call)), .triedAsDraft)
        },
        Route(
            .get, "/jobs/{id}/bundle", .page(.operate),
            "The files and facts that reproduce a job's failure."
        ) { call in
            let job = try call.key.stored(inPath: call.parameter("id"))
            return try .json(try await DeadRoutes.bundle(of: job, call))
        },
    ]

    /// The most bytes of an edit that the page shows.
    private static let editBytesMax = 16 << 10

    static func page(_ text: String, _ call: Call) async throws -> JobPage {
        let job = try call.key.stored(inPath: text)
        let view = try await JobView.find(job, call)
        let key = try call.key
        let stored = try await call.parts.queue.record(of: job)
        let record = stored.flatMap { key.view.view($0) }
        let (edit, canBeDraft) = try await edit(record, call)
        return JobPage(
            call.frame(), job: job, state: record?.outcome ?? view.state.rawValue,
            sentence: view.detail,
            facts: record.map(JobPage.facts) ?? [], asset: view.asset,
            timeline: record.map(JobPage.timeline) ?? [],
            attempts: view.attempts.map { AttemptRow($0) },
            edit: edit, progress: view.percent,
            isCancellable: view.state.isCancellable && key.permits(.enqueue),
            isReplayable: view.state.isFailed && key.permits(.operate),
            makesDraft: view.state == .dead && canBeDraft)
    }

    /// Returns the edit for display, and whether it can be tried as a draft.
    private static func edit(
        _ record: JobRecord?, _ call: Call
    ) async throws -> (view: JobPage.EditView?, canBeDraft: Bool) {
        guard let record, let text = try await call.parts.queue.edit(of: record) else {
            return (nil, false)
        }
        let json = String(decoding: text.utf8.prefix(editBytesMax), as: UTF8.self)
        let edit: Edit
        do throws(Failure) {
            edit = try Edit(json: text)
        } catch {
            return (
                JobPage.EditView(steps: [], output: nil, json: json, note: error.message), false
            )
        }
        let view =
            switch edit.mode {
            case .replace(let steps), .append(let steps):
                JobPage.EditView(
                    steps: steps.filters.map { EditStep($0) }, output: nil, json: json,
                    note: edit.mode.name == .append ? "after the steps that are there" : nil)
            case .amend, .revert, .undo, .redo, .copyEdit, .render, .import, .renditions, .publish,
                .discard:
                JobPage.EditView(
                    steps: [], output: nil, json: json, note: edit.mode.name.rawValue)
            }
        return (view, edit.mode.name.canBeDraft)
    }

    private static func cancel(_ call: Call) async throws -> Response {
        _ = try await call.form()
        let job = try call.key.stored(inPath: call.parameter("id"))
        _ = try await JobView.find(job, call)
        let answer = try await JobRoutes.end(job, reason: "cancelled on the dashboard", call)
        try await call.note("cancelJob", job)
        return Call.seeOther(Links.job(job), answer == .notified ? .stopping : .cancelled)
    }

    private static func replay(_ call: Call) async throws -> Response {
        _ = try await call.form()
        let job = try call.key.stored(inPath: call.parameter("id"))
        _ = try await JobView.find(job, call)
        let answer = try await call.parts.queue.replay([job]).first
        guard answer == .replayed else {
            throw Problem(.tooLate, "Job \(job) is not dead any more, or cannot be started again.")
        }
        try await call.note("replayJob", job)
        return Call.seeOther(Links.job(job), .replayed)
    }
}
