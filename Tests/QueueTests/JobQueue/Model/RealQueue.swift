import Edits
import Foundation
import Redis
import Synchronization

@testable import JobQueue

/// The scripts on a real Redis, driven by the same commands as the model.
struct RealQueue {
    let redis: RedisClient
    let name: QueueName
    let rules: QueueRules
    /// A script that takes the place of the real one of its name.
    let replacement: RedisScript?
    private var fences: [String: [String]] = [:]
    private var ingressLast = 0
    private var clock = 0
    /// The workers whose last claim left jobs to others.
    private var leaving: Set<String> = []

    init(redis: RedisClient, rules: QueueRules, replacement: RedisScript? = nil) throws {
        self.redis = redis
        self.rules = rules
        self.replacement = replacement
        name = try QueueName("model-\(UInt64.random(in: 0...UInt64.max))")
    }

    /// What waits for any living worker, as those see it who look and do not act.
    func overdue() async throws -> OverdueWork {
        try await JobQueue(name: name, redis: redis).overdue()
    }

    /// What the queue holds, sorted; afterwards it is gone.
    func takeContents() async throws -> [String] {
        let text = try await redis.run(
            queueContents, keys: [name.keys.ingress], arguments: [RedisArgument(name.keys.prefix)]
        ).string
        return text?.split(separator: "\n").map(String.init) ?? []
    }

    /// Runs a command; the answer in the words of the model.
    mutating func apply(_ command: QueueCommand) async throws -> [String] {
        do {
            return try await answer(command)
        } catch {
            guard let answer = (error as? RedisError)?.serverError else { throw error }
            return ["ERROR \(answer.message)"]
        }
    }

    private mutating func answer(_ command: QueueCommand) async throws -> [String] {
        switch command {
        case .enqueue(let fields, let isUrgent):
            ingressLast += 1
            _ = try await redis.send(
                [
                    "XADD", key(isUrgent ? "in:interactive" : "in"),
                    RedisArgument("\(ingressLast)-0"),
                ] + Self.arguments(fields))
            return ["OK"]
        case .addToBatchStream(let batch, let number, let fields):
            return [try await addToBatchStream(batch, number, fields)]
        case .append(let batch, let first, let members, let edit, let mustBeOpen):
            let answers = try await run(
                QueueScript.append,
                [
                    RedisArgument(batch), RedisArgument(edit), RedisArgument(first), "", "",
                    mustBeOpen ? "1" : "",
                ]
                    + members.flatMap { fields in
                        ["asset", "edit", "cost", "fields"].map { name in
                            RedisArgument(fields.first { $0.name == name }?.value ?? "")
                        }
                    })
            return answers.first == "USED" ? ["USED"] : answers
        case .admit(let most):
            let answers = try await run(
                QueueScript.admit,
                [RedisArgument(most), RedisArgument(64 << 20)] + Self.contract + [
                    RedisArgument(rules.malformedMax), RedisArgument(rules.aheadMax),
                    RedisArgument(1 << 30), "0", Self.never,
                ])
            guard let next = answers.last, let ms = Int(next) else { return answers }
            return answers.dropLast() + [ms < 0 ? "none" : ms == 0 ? "now" : "later"]
        case .feed(let most):
            return try await run(
                QueueScript.feed,
                [RedisArgument(most), RedisArgument(rules.window)] + Self.contract + [
                    RedisArgument(rules.batchStreamsMax), RedisArgument(64 << 20),
                    RedisArgument(rules.malformedMax), RedisArgument(rules.checksMax), "0",
                ])
        case .promote(let most):
            return try await run(QueueScript.promote, [RedisArgument(most), Self.never])
        case .claim(let worker, let most, let isIdle):
            return try await claim(worker, most, isIdle)
        case .beat(let worker, let holds, let stage, let percent):
            return try await run(
                QueueScript.beat,
                [Self.lease, RedisArgument(worker), RedisArgument(QueueModel.info(of: worker))]
                    + holds.flatMap {
                        arguments($0) + [
                            RedisArgument(stage), percent.map { RedisArgument($0) } ?? "",
                            percent == nil ? "" : "100",
                        ]
                    })
        case .pardon(let holds): return try await pardon(holds)
        case .commit(let holds, let version, let outcome):
            return try await run(
                QueueScript.commit,
                holds.flatMap {
                    arguments($0) + [RedisArgument(version), RedisArgument(outcome), "{}", ""]
                })
        case .finalize(let holds):
            return try await run(QueueScript.finalize, holds.flatMap { arguments($0) })
        case .conclude(let hold, let outcome):
            return try await run(
                QueueScript.conclude, arguments(hold) + [RedisArgument(outcome), "{}"])
        case .preview(let hold):
            return try await run(QueueScript.preview, arguments(hold) + ["{}"])
        case .handOn(let hold):
            return try await run(
                QueueScript.handOn,
                arguments(hold) + [
                    Self.aDay, RedisArgument(rules.carriesMax), "code", "message", "{}",
                ])
        case .giveBack(let hold):
            return try await run(QueueScript.handOn, arguments(hold) + [Self.aDay])
        case .passOn(let hold, let worker, let needs, let isForGood):
            return try await run(
                QueueScript.passOn,
                arguments(hold) + [
                    RedisArgument(worker), "100", "code", "message", "{}", "{}",
                    RedisArgument(needs), isForGood ? "1" : "",
                ])
        case .fail(let hold, let counts, let verdict):
            return try await run(
                QueueScript.fail,
                arguments(hold) + [
                    RedisArgument(counts), verdict == .dead ? "dead" : Self.aDay,
                    verdict == .alone ? "alone" : "", "code", "message", "{}", "{}",
                ])
        case .release(let hold, let reason):
            return try await run(QueueScript.release, arguments(hold) + [RedisArgument(reason)])
        case .split(let hold, let task, let numbers):
            return try await run(
                QueueScript.split,
                arguments(hold) + [RedisArgument(task)] + numbers.map { RedisArgument($0) })
        case .claimPart(let hold, let number):
            let answers = try await run(
                QueueScript.claimPart, arguments(hold) + [RedisArgument(number)])
            return answers.prefix(1) + answers.dropFirst().sorted()
        case .clockSteps(let seconds):
            _ = try await redis.send(["INCRBY", key("clock"), RedisArgument(seconds)])
            return []
        case .reap(let worker, let most, let forgets):
            return try await reap(worker, most, forgets)
        case .replay(let ids, let edit):
            return try await replay(ids, edit)
        case .replayLost(let id, let version, let asset, let told):
            return try await run(
                QueueScript.replayLost,
                [
                    RedisArgument(id), RedisArgument(version), RedisArgument(asset),
                    RedisArgument(told), "", "", "",
                ])
        case .spill(let ids, let age): return try await spill(ids, age)
        case .restore(let id, let generation, let fields, let isOfThisDeath):
            let ended = try await redis.send(["HGET", key("job:\(id)"), "ended"]).string
            let values = QueueModel.named(fields)
            return try await run(
                QueueScript.restore,
                [RedisArgument(id), RedisArgument(generation)]
                    + ["asset", "edit", "tenant", "priority", "batch", "cost"].map {
                        RedisArgument(values[$0] ?? "")
                    } + [
                        "1", RedisArgument(isOfThisDeath ? ended ?? "1000" : "1000"),
                        RedisArgument(values["fields"] ?? ""),
                    ])
        case .cancel(let ids):
            return try await run(QueueScript.cancel, ["over"] + ids.map { RedisArgument($0) })
        case .cancelBatch(let batch, let most):
            let answers = try await run(
                QueueScript.cancelBatch,
                [RedisArgument(batch), "batch over", RedisArgument(most)])
            return Array(answers.prefix(2))
        case .configure(let settings):
            return try await run(QueueScript.configure, Self.arguments(settings))
        case .leaseRunsOut(let job): return try await passTime("lease", job)
        case .becomesDue(let job): return try await passTime("delayed", job)
        case .askedWorkerIsLate:
            if try await redis.send(["HEXISTS", key("virtual"), "aloneUntil"]).int == 1 {
                _ = try await redis.send(["HSET", key("virtual"), "aloneUntil", "1"])
            }
            return []
        case .takesADay(let job):
            try await setClaimed(job, "1")
            return []
        case .fallsSilent(let worker):
            _ = try await redis.send(["ZADD", key("workers"), "XX", "1", RedisArgument(worker)])
            return []
        }
    }

    private func spill(_ ids: [String], _ age: Int) async throws -> [String] {
        var jobs: [RedisArgument] = []
        for id in ids {
            let record = try await redis.send(["HGETALL", key("job:\(id)")]).pairs ?? [:]
            if record["malformed"] != nil { continue }
            let generation = record["generation"].flatMap { Int($0) } ?? 1
            jobs += [RedisArgument(id), RedisArgument(generation - age)]
        }
        return try await run(QueueScript.removeDead, ["file"] + jobs)
    }

    private func addToBatchStream(
        _ batch: String, _ number: Int, _ fields: [QueueCommand.Field]
    ) async throws -> String {
        do {
            _ = try await redis.send(
                ["XADD", key("lane:\(batch)"), RedisArgument("1-\(number)")]
                    + Self.arguments(fields))
            return "OK"
        } catch {
            guard error.message.contains("equal or smaller") else { throw error }
            return "REFUSED"
        }
    }

    private mutating func passTime(_ set: String, _ job: String) async throws -> [String] {
        clock += 1
        _ = try await redis.send(
            ["ZADD", key(set), "XX", RedisArgument(clock), RedisArgument(job)])
        return []
    }

    private mutating func claim(
        _ worker: String, _ most: Int, _ isIdle: Bool
    ) async throws -> [String] {
        // It was woken, if anybody was.
        if try await redis.send(["LPOP", key("wake")]).string == nil, !leaving.contains(worker) {
            _ = try await redis.send(["LPOP", key("wake:others")])
        }
        let reply = try await reply(
            QueueScript.claim,
            [
                RedisArgument(worker), RedisArgument(most), isIdle ? "1" : "", Self.lease,
                RedisArgument(rules.passedMax), "250",
                RedisArgument(rules.cappedMax), "",
            ])
        guard let parts = reply.array, parts.count == 2, let wanted = parts[0].string,
            let rows = parts[1].array
        else { return ["\(reply)"] }
        if wanted == "left" { leaving.insert(worker) } else { leaving.remove(worker) }
        for row in rows {
            if let job = row.array?.first?.string { try await setClaimed(job, Self.never) }
        }
        return [wanted]
            + rows.map { row in
                let f = row.array?.map { $0.string ?? "?" } ?? []
                guard f.count == 18 else { return "\(row)" }
                let known = take(f[1], of: f[0])
                return [
                    f[0], f[2], f[3], f[4], f[5], f[6], f[7], f[10], f[11], f[12], f[15], f[16],
                    f[17],
                ]
                .joined(separator: " ") + known
            }
    }

    /// How long a job takes is the clock's; here it takes a day at least, or no time.
    private func setClaimed(_ job: String, _ time: RedisArgument) async throws {
        guard try await redis.send(["ZSCORE", key("lease"), RedisArgument(job)]).string != nil
        else { return }
        _ = try await redis.send([
            "HSET", key("job:\(job)"), "claimed", time, "since", time,
        ])
    }

    private mutating func reap(
        _ worker: String, _ most: Int, _ forgets: Bool
    ) async throws -> [String] {
        let reply = try await reply(
            QueueScript.reap,
            [
                RedisArgument(worker), Self.lease, RedisArgument(most),
                RedisArgument(rules.crashesToQuarantine), RedisArgument(rules.crashesMax),
                forgets ? Self.longAhead : Self.aDay, "1000", RedisArgument(rules.batchesMax),
                RedisArgument(rules.seenMax), RedisArgument(rules.carriesMax),
                RedisArgument(rules.voidsMax), Self.aDay, "",
            ])
        guard let parts = reply.array, parts.count == 4, parts[3].array?.isEmpty == true,
            let ready = parts[0].int,
            let dead = parts[1].int, let rows = parts[2].array
        else { return ["\(reply)"] }
        return ["\(ready)", "\(dead)"]
            + rows.map { row in
                let f = row.array?.map { $0.string ?? $0.int.map { "\($0)" } ?? "?" } ?? []
                guard f.count == 8 else { return "\(row)" }
                return [f[0], f[2], f[3], f[4], f[5], f[6]].joined(separator: " ")
                    + take(f[1], of: f[0])
            }
    }

    /// The lease of a job that is released while it is published is over at once, likewise.
    private mutating func pardon(_ holds: [QueueCommand.Hold]) async throws -> [String] {
        var answers: [String] = []
        for hold in holds {
            let wasCommitting =
                try await redis.send(["HGET", key("job:\(hold.job)"), "state"]).string
                == "committing"
            let answer = try await run(
                QueueScript.pardon, [RedisArgument(rules.crashesToQuarantine)] + arguments(hold))
            answers += answer
            if wasCommitting, answer == ["RELEASED"] { _ = try await passTime("lease", hold.job) }
        }
        return answers
    }

    /// The lease of what is resumed is over at once, which the clock would say; the model has a time of its own.
    private mutating func replay(_ ids: [String], _ edit: String) async throws -> [String] {
        var answers: [String] = []
        for id in ids {
            let wasStuck =
                try await redis.send(["HGET", key("job:\(id)"), "state"]).string == "stuck"
            let answer = try await run(
                QueueScript.replay, [RedisArgument(edit), RedisArgument(id)])
            answers += answer
            if wasStuck, answer == ["OK"] { _ = try await passTime("lease", id) }
        }
        return answers
    }

    /// Keeps a new fence; what is said when it is not above all earlier ones of the job.
    private mutating func take(_ fence: String, of job: String) -> String {
        let last = fences[job]?.last.flatMap { Int($0) } ?? 0
        fences[job, default: []].append(fence)
        return Int(fence) ?? 0 > last ? "" : " with fence \(fence) after \(last)"
    }

    private func arguments(_ hold: QueueCommand.Hold) -> [RedisArgument] {
        let given = fences[hold.job] ?? []
        let fence =
            if let age = hold.age, age < given.count { given[given.count - 1 - age] } else { "7" }
        return [RedisArgument(hold.job), RedisArgument(fence)]
    }

    private func run(_ script: RedisScript, _ arguments: [RedisArgument]) async throws -> [String] {
        let reply = try await reply(script, arguments)
        return (reply.array ?? [reply]).map { $0.string ?? $0.int.map { "\($0)" } ?? "\($0)" }
    }

    private func reply(
        _ script: RedisScript, _ arguments: [RedisArgument]
    ) async throws(RedisError) -> RedisReply {
        try await redis.run(
            Self.stepping(
                replacement?.name == script.name ? replacement ?? script : script),
            keys: [name.keys.ingress],
            arguments: [
                RedisArgument(name.keys.prefix), "100000", RedisArgument(rules.doneMax),
            ] + arguments)
    }

    /// The script with a clock that `clockSteps` sets: key `clock` has the seconds by which it is ahead.
    private static func stepping(_ script: RedisScript) -> RedisScript {
        let source = String(decoding: script.source, as: UTF8.self)
        return stepped.withLock { stepped in
            if let known = stepped[source] { return known }
            let time = "local TIME = call('TIME')\n"
            let other = RedisScript(
                name: script.name,
                source: source.replacingOccurrences(
                    of: time,
                    with: time + "TIME[1] = TIME[1] + (call('GET', P .. 'clock') or 0)\n"))
            stepped[source] = other
            return other
        }
    }

    private static let stepped = Mutex<[String: RedisScript]>([:])

    /// The tenants whose count of running jobs is not the number of their leases; nil when there are none.
    func miscount() async throws -> String? {
        try await redis.run(
            Self.countLeases, keys: [name.keys.ingress], arguments: [key("")]
        ).string.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static let countLeases = RedisScript(
        name: "countLeases",
        source: """
            local P, held = ARGV[1], {}
            for _, id in ipairs(redis.call('ZRANGE', P .. 'lease', 0, -1)) do
              local tenant = redis.call('HGET', P .. 'job:' .. id, 'tenant') or 'default'
              held[tenant] = (held[tenant] or 0) - 1
            end
            local counts = redis.call('HGETALL', P .. 'running')
            for i = 1, #counts, 2 do held[counts[i]] = (held[counts[i]] or 0) + counts[i + 1] end
            local wrong = {}
            for tenant, by in pairs(held) do
              if by ~= 0 then wrong[#wrong + 1] = tenant .. ' ' .. by end
            end
            return table.concat(wrong, ', ')
            """)

    private func key(_ end: String) -> RedisArgument { RedisArgument(name.keys.prefix + end) }

    private static func arguments(_ fields: [QueueCommand.Field]) -> [RedisArgument] {
        fields.flatMap { [RedisArgument($0.name), RedisArgument($0.value)] }
    }

    private static let contract = [
        ContractLimits.assetBytesMax, ContractLimits.editBytesMax, ContractLimits.jobIDLengthMax,
        ContractLimits.batchJobsMax, ContractLimits.costMax,
    ].map { RedisArgument($0) }
    /// Times that no sequence outlives, in milliseconds.
    private static let lease: RedisArgument = "3600000"
    /// A time in the far future, in milliseconds.
    private static let never: RedisArgument = "9000000000000"
    private static let aDay: RedisArgument = "86400000"
    /// Ten years ahead: however the clock was set, all is older.
    private static let longAhead: RedisArgument = "-315360000000"
}
