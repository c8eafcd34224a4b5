import AccessKeys
import ArgumentParser
import Edits
import JobQueue
import Operations
import Redis
import Telemetry

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explains in one sentence where a job is and why.",
        discussion: """
            Name a job by the producer's id, by the id that XADD answered, or by its batch and number. Ends \
            with 1 when a job is unknown.

            Example:
              minilab explain order-77-photo-3
              minilab explain spring:4711 --json
            """)

    @Argument(help: "Jobs.") var jobs: [String]
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print one JSON object per line: the facts and the sentence.") var json = false

    func run() async throws {
        let (facts, names) = try await queueOptions.withQueue { queue, redis in
            var facts: [JobFacts] = []
            for job in jobs { facts.append(try await queue.facts(of: job)) }
            let unknown = facts.filter { !$0.isKnown }.map(\.job)
            guard !unknown.isEmpty else { return (facts, [String: [String]]()) }
            let names = try await ClientNames(queue, redis).jobs(called: unknown)
            return (facts, names)
        }
        for job in facts {
            if json {
                try printJSON(ExplainedJob(job), pretty: false)
            } else {
                print(jobs.count == 1 ? job.sentence : "\(job.job): \(job.sentence)")
            }
            if let names = names[job.job], !names.isEmpty {
                StandardError.write(
                    "clients of the gateway have called \(names.joined(separator: ", ")) like this: the tenant stands before "
                        + "their names.")
            }
        }
        if facts.contains(where: { !$0.isKnown }) { throw ExitCode(1) }
    }
}

/// The jobs of the gateway's clients by the names that the clients know: the gateway puts the tenant before them.
private struct ClientNames {
    private let queue: JobQueue
    private let keys: KeyStore

    /// The number of tenants that one call asks about.
    private static let tenantsStep = 1000

    init(_ queue: JobQueue, _ redis: RedisClient) async throws {
        self.queue = queue
        keys = try await KeyStore(
            redis: redis, queue: queue.name, at: GatewayRecords(queue).keysToRead())
    }

    /// Returns the full names of jobs that the queue knows, by the names that clients know.
    func jobs(called names: [String]) async throws -> [String: [String]] {
        let tenants = Set(try await keys.list().compactMap { $0.tenant?.string }).sorted()
        var found: [String: [String]] = [:]
        for name in names {
            for start in stride(from: 0, to: tenants.count, by: Self.tenantsStep) {
                let some = tenants[start..<min(start + Self.tenantsStep, tenants.count)]
                found[name, default: []] += try await queue.known(some.map { "\($0).\(name)" })
            }
        }
        return found
    }
}
