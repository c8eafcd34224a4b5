import ArgumentParser
import Edits
import JobQueue

struct LimitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit",
        abstract: "Sets or lists how many jobs of tenants run at once.",
        discussion: """
            Without --cap and --weight, the limits that are set are listed; a tenant that is paused has the cap 0. \
            A tenant of weight 2 gets twice the time of one of weight 1 while both have jobs. Without --tenant, \
            the cap is that of every tenant that has none of its own.

            Example:
              minilab limit
              minilab limit --tenant acme --cap 8 --weight 2
              minilab limit --tenant acme --cap none
              minilab limit --cap 16
            """)

    @Option(help: "The tenant.") var tenant: String?
    @Option(help: "Jobs at a time, or none for no limit.") var cap: Limit?
    @Option(help: "The tenant's share; none means 1.") var weight: Limit?
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    enum Limit: ExpressibleByArgument, CustomStringConvertible {
        case none
        case number(Int)

        init?(argument: String) {
            if argument == "none" {
                self = .none
            } else {
                guard let number = Int(argument), (1...QueueRule.numberMax).contains(number) else {
                    return nil
                }
                self = .number(number)
            }
        }

        var number: Int? { if case .number(let number) = self { number } else { nil } }
        var description: String { number.map { "\($0)" } ?? "none" }
    }

    func validate() throws {
        guard cap != nil || weight != nil || tenant == nil else {
            throw ValidationError(
                "give --cap or --weight; without --tenant, minilab limit lists the limits.")
        }
        guard weight == nil || tenant != nil else {
            throw ValidationError("--weight is a tenant's; give --tenant.")
        }
    }

    func run() async throws {
        if cap == nil, weight == nil { return try await list() }
        let tenant = try tenant.map { try JobID($0) }
        var rules: [QueueRule] = []
        if let cap { rules.append(.cap(tenant, cap.number)) }
        if let weight, let tenant { rules.append(.weight(tenant, weight.number)) }
        let limits =
            [cap.map { ("cap", $0.description) }, weight.map { ("weight", $0.description) }]
            .compactMap(\.self)
        let text =
            "\(tenant.map { "tenant \($0)" } ?? "every tenant"): "
            + limits.map { "\($0) \($1)" }.joined(separator: ", ")
        try await queueOptions.withQueue { [rules] queue, redis in
            try await queue.set(rules)
            await CommandAudit(redis, queue.name).note(
                tenant == nil ? "limitAll" : "limitTenant", text)
        }
        if json { return try printJSON(Dictionary(uniqueKeysWithValues: limits)) }
        print(text)
    }

    /// The limits as they are set.
    private struct Limits: Encodable {
        /// That of every tenant that has none of its own.
        let cap: Int?
        let tenants: [String: TenantRules]
    }

    private func list() async throws {
        let limits = try await queueOptions.withQueue { queue, _ in
            Limits(cap: try await queue.usualCap(), tenants: try await queue.tenantRules())
        }
        if json { return try printJSON(limits) }
        var table = TextTable(["tenant", "cap", "weight"], rightAligned: [1, 2])
        if let cap = limits.cap { table.add(["every other", "\(cap)", ""]) }
        for (tenant, rules) in limits.tenants.sorted(by: { $0.key < $1.key }) {
            table.add([
                tenant, rules.cap.map { $0 == 0 ? "0, paused" : "\($0)" } ?? "",
                rules.weight.map { "\($0)" } ?? "",
            ])
        }
        let isNone = limits.cap == nil && limits.tenants.isEmpty
        print(block: isNone ? "no limits" : table.text)
    }
}
