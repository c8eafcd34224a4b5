import Edits
import Redis

/// A server's answers to the questions that a program asks at its start (`JobQueue+CheckingServer.swift`).
struct ServerAnswers: Sendable {
    /// Whether the user may run the commands of the program's scripts.
    enum Rights: Sendable, Equatable {
        /// The names of the commands that it may not run, of those that the server does not have, and of those that it may not run on
        /// the records of the gateway.
        case asked(forbidden: [String], unknown: [String], ofRecords: [String] = [])
        /// The server runs the scripts, and cannot be asked.
        case unknown
        /// The server does not run them.
        case noScripts(String)
    }

    /// Whether the user `default` may run the commands of an append-only file.
    enum Replay: Sendable, Equatable {
        /// The names of the commands that it may not run on the keys of the queue and of its gateways.
        case asked(forbidden: [String])
        /// The program's user may not ask.
        case forbidden
        /// The server cannot be asked.
        case unknown(String)
        /// There is nothing to ask: no file is read, or not as a user.
        case needless
    }

    /// The user of the connection.
    var user: String
    var queue: QueueName
    var rights: Rights
    /// The fields of INFO: of sections `server`, `memory` and `persistence`.
    var facts: [String: String] = [:]
    var replay = Replay.needless
    /// Whether the marks of the largest batch fit into one value.
    var takesLargestBatch = true
}

/// A program's conclusion from the answers.
///
/// Whatever would lose a job is a refusal, with the command that mends it. What cannot be known is a warning.
struct ServerVerdict: Sendable, Equatable {
    /// Why the queue must not be used on this server: a sentence for each reason.
    var refusals: [String] = []
    /// Settings that are valid and have a cost, and questions that could not be asked.
    var warnings: [String] = []
    /// Whether every script of the program runs on the keys of the queue.
    var runsScripts = true
    /// Whether INFO names no reason for which all writes are refused for now.
    var acceptsWrites = true

    /// How a person reaches the server.
    private static let cli = "redis-cli --user admin --askpass"

    init(_ answers: ServerAnswers) {
        judge(answers.rights, of: answers)
        if case .noScripts = answers.rights { return }
        judge(answers.replay, of: answers)
        judge(answers.facts)
        if !answers.takesLargestBatch {
            refusals.append(
                "Redis takes no value of \(ContractLimits.batchJobsMax / 8) bytes (proto-max-bulk-len), which a batch of "
                    + "\(ContractLimits.batchJobsMax) jobs needs, so that a large batch would never end; set it: "
                    + "\(Self.cli) CONFIG SET proto-max-bulk-len 2mb, and in redis.conf.")
        }
    }

    private mutating func judge(_ rights: ServerAnswers.Rights, of answers: ServerAnswers) {
        switch rights {
        case .noScripts(let message):
            runsScripts = false
            refusals.append(
                "This server does not run the scripts of Minilab (its answer: \(message)); use Redis 7.0 or newer, or "
                    + "Valkey, with Lua (SERVERS.md lists what works).")
        case .unknown:
            warnings.append(
                "Redis cannot be asked which commands user \(answers.user) may run: a script that calls one that it may "
                    + "not ends halfway. Compare the user with ops/redis-users.conf.")
        case .asked(let forbidden, let unknown, let ofRecords):
            runsScripts = forbidden.isEmpty && unknown.isEmpty
            if !forbidden.isEmpty {
                refusals.append(Self.missing(forbidden, answers))
            }
            if !ofRecords.isEmpty {
                refusals.append(
                    Self.missing(ofRecords: ofRecords, user: answers.user, queue: answers.queue))
            }
            if !unknown.isEmpty {
                refusals.append(
                    "This server has no command \(Self.list(unknown)), which scripts call, so that they would end halfway: "
                        + "take rename-command out of its settings, or use a server that has it (SERVERS.md lists what "
                        + "works).")
            }
        }
    }

    private static func rules(_ commands: [String]) -> [String] {
        commands.map { "'+\($0.lowercased().replacing(" ", with: "|"))'" }
    }

    /// Why a user that does not reach the gateway's records is refused.
    static func missing(
        ofRecords commands: [String], user: String, queue: QueueName
    ) -> String {
        let keys = "\(queue.gatewayKeys.prefix)*"
        let rules = ["'~\(keys)'"] + rules(commands)
        return
            "User \(user) may not run \(list(commands)) on the keys \(keys), where the keys of clients, sessions, webhooks and the "
            + "audit log are since release 0.6; its rights are of another release: load those of this one (ops/deploy/secrets, "
            + "then \(cli) ACL LOAD), or give them: \(cli) ACL SETUSER \(user) \(rules.joined(separator: " "))."
    }

    private static func missing(_ commands: [String], _ answers: ServerAnswers) -> String {
        let rules = rules(commands)
        return
            "User \(answers.user) may not run \(list(commands)) on the keys \(answers.queue.keys.prefix)*, which scripts call, so "
            + "that they would end halfway; its rights are of another release: load those of this one (ops/deploy/secrets, "
            + "then \(cli) ACL LOAD), or give them: \(cli) ACL SETUSER \(answers.user) \(rules.joined(separator: " "))."
    }

    private mutating func judge(_ replay: ServerAnswers.Replay, of answers: ServerAnswers) {
        let rule = "\(Self.cli) ACL SETUSER default +@all '~*' '&*'"
        let rest =
            "then the same in its users.acl or redis.conf (user default off +@all ~* &*), then \(Self.cli) BGREWRITEAOF; "
            + "restart Redis only after that."
        switch replay {
        case .needless, .asked([]): break
        case .asked(let forbidden):
            refusals.append(
                "Redis would lose jobs at its next restart, because it reads its append-only file as user default, which may "
                    + "not run \(Self.list(forbidden)) on the keys of this queue or of its gateways; while it runs, in this order: "
                    + "\(rule), " + rest)
        case .forbidden:
            let ask = "\(Self.cli) ACL SETUSER \(answers.user) '+acl|dryrun'"
            refusals.append(
                "User \(answers.user) may not ask whether Redis would lose jobs at its next restart (ACL DRYRUN), so its users "
                    + "are of an earlier release, with which Redis does; while it runs, in this order: \(rule), \(ask), "
                    + rest)
        case .unknown(let message):
            warnings.append(
                "Redis cannot be asked whether it would lose jobs at its next restart (its answer: \(message)): it does "
                    + "unless user default may run all commands on all keys.")
        }
    }

    private mutating func judge(_ facts: [String: String]) {
        // A user that may not run INFO has been told so.
        if facts.isEmpty, !runsScripts { return }
        let policy = facts["maxmemory_policy"]
        if policy != "noeviction" {
            refusals.append(
                "Redis has maxmemory-policy \(policy ?? "unknown"), under which it deletes jobs when memory is short; set "
                    + "it: \(Self.cli) CONFIG SET maxmemory-policy noeviction, and in redis.conf.")
        }
        if facts["aof_enabled"] != "1" {
            warnings.append(
                "Redis keeps no append-only file: a restart of Redis loses jobs. "
                    + "Set appendonly yes and appendfsync everysec.")
        }
        if let reason = Self.whyNoWrites(facts) {
            acceptsWrites = false
            warnings.append("Redis accepts no write, so that no job goes on: \(reason)")
        }
    }

    /// Why a server refuses all writes for now, as INFO tells it; nil if INFO names no reason.
    private static func whyNoWrites(_ facts: [String: String]) -> String? {
        if facts["aof_last_write_status"] == "err" {
            return
                "it could not write its append-only file. Is its disk full? It accepts writes again "
                + "when there is space."
        }
        if facts["rdb_last_bgsave_status"] == "err" {
            return
                "it could not write its snapshot. Is its disk full? It tries again by itself, or after "
                + "\(cli) BGSAVE."
        }
        if facts["role"] == "slave" {
            return "it is a replica. Workers and gateways need its master."
        }
        // INFO has this line only if min-replicas-to-write is set, and that number is unknown, but it is at least 1.
        if facts["min_slaves_good_slaves"] == "0" {
            return "it has min-replicas-to-write, and no replica is in step. Start the replicas."
        }
        return nil
    }

    /// The most commands that are named.
    private static let namedMax = 5

    private static func list(_ commands: [String]) -> String {
        guard commands.count > namedMax else { return commands.joined(separator: ", ") }
        return commands.prefix(namedMax).joined(separator: ", ")
            + " and \(commands.count - namedMax) more"
    }
}

extension ServerAnswers {
    /// The first version of Valkey that reads its append-only file as no user. Of other servers none is known.
    private static let readsAsNobody = [9, 1, 2]

    /// Whether a restart runs commands of an append-only file as user `default`.
    static func replaysAsDefault(_ facts: [String: String]) -> Bool {
        if facts["aof_enabled"] == "0" { return false }
        guard let version = facts["valkey_version"] else { return true }
        let numbers = version.split(separator: ".").map { Int($0) ?? 0 }
        return numbers.lexicographicallyPrecedes(readsAsNobody)
    }
}
