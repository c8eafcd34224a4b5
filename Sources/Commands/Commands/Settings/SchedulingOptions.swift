public import Edits
public import ArgumentParser

/// The flags for the tenant and the priority of a job or a batch.
struct SchedulingOptions: ParsableArguments {
    @Option(help: "The tenant; tenants share the workers fairly (default: default).")
    var tenant: String?

    @Option(help: "How urgent: interactive, normal or bulk (default: normal; of a batch: bulk).")
    var priority: Priority?

    @Option(
        help: ArgumentHelp(
            "What one job is likely to cost, in milliseconds of one slot (default: learned).",
            valueName: "ms"))
    var cost: Int?

    func scheduling() throws -> Scheduling {
        var scheduling = Scheduling()
        scheduling.tenant = try tenant.map { try JobID($0) }
        scheduling.priority = priority
        if let cost {
            guard (1...ContractLimits.costMax).contains(cost) else {
                throw ValidationError(
                    "--cost is \(cost); expected 1 to \(ContractLimits.costMax) milliseconds.")
            }
            scheduling.cost = cost
        }
        return scheduling
    }
}

/// The flags for the time of a single job and for the older jobs that it replaces.
struct TimingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Not begun before; a time in UTC like 2026-11-21T06:00:00Z.", valueName: "time"))
    var notBefore: String?

    @Option(
        help: ArgumentHelp(
            "The deadline: a job that has not begun by then dies.", valueName: "time"))
    var deadline: String?

    @Option(
        help: "Takes the place of older jobs of the asset: waiting, or the running one as well.")
    var replace: Scheduling.Replacement?

    /// The flags that were set, for a command that does not support them.
    var given: [String] {
        [
            notBefore.map { _ in "--not-before" }, deadline.map { _ in "--deadline" },
            replace.map { _ in "--replace" },
        ].compactMap(\.self)
    }

    func applied(to scheduling: Scheduling) throws -> Scheduling {
        var scheduling = scheduling
        scheduling.notBefore = try notBefore.map {
            try Scheduling.time($0, of: "--not-before")
        }
        scheduling.deadline = try deadline.map { try Scheduling.time($0, of: "--deadline") }
        scheduling.replace = replace
        return scheduling
    }
}

// Argument Parser lists the values of an enum of strings by itself.
extension Priority: ExpressibleByArgument {}
extension Scheduling.Replacement: ExpressibleByArgument {}
