import ArgumentParser
import Edits
import JobQueue

struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Stops workers from starting jobs, all or a tenant's.",
        discussion: """
            Running jobs are finished, and producers may still send jobs. The pause holds for all workers and survives \
            their restarts, until minilab resume.

            Example:
              minilab pause "library is being moved"
              minilab pause --tenant acme
            """)

    @Argument(help: "Why; status and explain show it, and the audit log has it, also of a tenant.")
    var reason = "paused by an operator"
    @Option(help: "Only this tenant: it gets a cap of 0.") var tenant: String?
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard !reason.isEmpty, reason.utf8.count <= QueueRule.reasonBytesMax else {
            throw ValidationError(
                "the reason has \(reason.utf8.count) bytes; expected 1 to "
                    + "\(QueueRule.reasonBytesMax).")
        }
    }

    func run() async throws {
        let rule: QueueRule =
            if let tenant { .cap(try JobID(tenant), 0) } else { .paused(reason) }
        try await queueOptions.withQueue { queue, redis in
            try await queue.set([rule])
            await CommandAudit(redis, queue.name).note(
                "pause", tenant.map { "tenant \($0): \(reason)" } ?? reason)
        }
        if json { return try printJSON(["paused": tenant ?? "all"]) }
        print("paused\(tenant.map { ": tenant \($0)" } ?? ""); what runs is finished")
    }
}

struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Ends a pause.",
        discussion: """
            The end of a tenant's pause also removes the tenant's cap: set it again with minilab limit.

            Example:
              minilab resume
              minilab resume --tenant acme
            """)

    @Option(help: "Only this tenant.") var tenant: String?
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let rule: QueueRule =
            if let tenant { .cap(try JobID(tenant), nil) } else { .paused(nil) }
        try await queueOptions.withQueue { queue, redis in
            // A mistyped name would be a rule of its own, and the tenant stays paused.
            if let tenant, try await queue.tenantRules()[tenant]?.cap == nil {
                throw CommandError(
                    "tenant \(tenant.debugDescription) is not paused and has no cap: nothing was changed. minilab limit lists "
                        + "the tenants that have one.")
            }
            try await queue.set([rule])
            await CommandAudit(redis, queue.name).note(
                "resume", tenant.map { "tenant \($0)" } ?? "the queue")
        }
        if json { return try printJSON(["resumed": tenant ?? "all"]) }
        print("resumed\(tenant.map { ": tenant \($0)" } ?? "")")
    }
}
