public import Edits
import Redis

extension JobQueue {
    /// Checks that Redis runs the program's scripts and keeps the jobs, and refuses one that may drop jobs.
    ///
    /// - Returns: Warnings for the log: settings that are valid but have a cost, and what could not be asked.
    /// - Throws: `unsafeServer`, with a sentence for each reason; `laterFormat`.
    public func checkServer(
        as program: QueueProgram
    ) async throws(QueueError) -> [String] {
        let verdict = try await askServer(as: program)
        guard verdict.refusals.isEmpty else {
            throw QueueError(.unsafeServer, verdict.refusals.joined(separator: " "))
        }
        return verdict.warnings
    }

    /// Asks the server, and writes nothing. All its answers come even where no write is accepted.
    ///
    /// - Parameter asked: how long ago the program asked last; nil if it has done nothing yet.
    /// - Throws: `laterFormat` if the queue is of a later release.
    func askServer(
        as program: QueueProgram, _ own: QueueFormat = .own, since asked: Duration? = nil
    ) async throws(QueueError) -> ServerVerdict {
        // The first call has a key: in a cluster, it leads to the node that has the queue, and the next calls go there, too.
        var answers = ServerAnswers(
            user: redis.user, queue: name, rights: try await rights(of: program))
        if case .noScripts = answers.rights { return ServerVerdict(answers) }
        _ = try await checkFormat(own, since: asked)
        for section in ["server", "memory", "persistence", "replication"] {
            guard case .success(let info) = try await answer("INFO", section) else { continue }
            answers.facts.merge(Self.fields(of: info.string ?? "")) { $1 }
        }
        if ServerAnswers.replaysAsDefault(answers.facts) {
            answers.replay = try await replay()
        }
        let last = ContractLimits.batchJobsMax - 1
        if case .failure(let error) = try await answer("GETBIT", name.keys.prefix, last) {
            answers.takesLargestBatch = error.prefix == "NOPERM"
        }
        return ServerVerdict(answers)
    }

    /// Asks whether the user may run what the scripts of a program call. The question is a script, and so also asks whether any runs.
    private func rights(
        of program: QueueProgram
    ) async throws(QueueError) -> ServerAnswers.Rights {
        let ofQueue = program.commands
        let commands = ofQueue + program.commandsOfRecords
        let calls = commands.indices.map { index in
            let key = index < ofQueue.count ? name.keys.virtual : name.gatewayKeys.accessKeys
            return ScriptCommands.call(commands[index], key: key) ?? [commands[index]]
        }
        let reply: RedisReply
        do throws(QueueError) {
            reply = try await run(
                QueueScript.rights, calls.flatMap { ["\($0.count)"] + $0 })
        } catch {
            if error.isNotPermitted {
                return .asked(forbidden: ["EVALSHA", "SCRIPT LOAD"], unknown: [])
            }
            // A server that is not ready, or does not know the login, says so by another word.
            guard let refusal = error.serverError, ["ERR", ""].contains(refusal.prefix) else {
                throw error
            }
            return .noScripts(refusal.message)
        }
        if reply.array == [] { return .unknown }
        // Each number is that of a question, from 1 on.
        let lists = reply.array?.map { list in
            list.array?.compactMap(\.int).map { Int($0) - 1 }.filter(commands.indices.contains)
        }
        guard let lists, lists.count == 2, let forbidden = lists[0], let unknown = lists[1] else {
            throw unexpected(reply, of: QueueScript.rights)
        }
        let ofRecords = forbidden.filter { $0 >= ofQueue.count }
        return .asked(
            forbidden: forbidden.filter { $0 < ofQueue.count }.map { commands[$0] },
            unknown: Set(unknown.map { commands[$0] }).sorted(),
            ofRecords: ofRecords.map { commands[$0] })
    }

    /// Asks whether the user `default`, as which Redis reads its append-only file, may run the commands with which scripts write: on the
    /// keys of the queue, and on those of its gateways, which whoever asks need not reach.
    private func replay() async throws(QueueError) -> ServerAnswers.Replay {
        let commands = ScriptCommands.writing.keys.sorted()
        let questions: [[String]] = [name.keys.virtual, name.gatewayKeys.accessKeys].flatMap {
            key in
            commands.map {
                ["ACL", "DRYRUN", "default"] + (ScriptCommands.call($0, key: key) ?? [$0])
            }
        }
        var forbidden: Set<String> = []
        for (command, result) in zip(
            commands + commands, await redis.sendAll(questions.map { RedisArgument.list($0) }))
        {
            switch result {
            case .success(let reply):
                if reply.string != "OK" { forbidden.insert(command) }
            case .failure(let error):
                guard let refusal = error.serverError else {
                    throw QueueError(.redis, "queue \(name): \(error)", cause: error)
                }
                // A user of ops/redis-users.conf may ask; `default` is nobody's there.
                let isOurs = refusal.prefix == "NOPERM" && redis.user != "default"
                return isOurs ? .forbidden : .unknown(refusal.message)
            }
        }
        return .asked(forbidden: forbidden.sorted())
    }

    /// Returns the reply, or the server's error as a value.
    func answer(
        _ command: any Arguments...
    ) async throws(QueueError) -> Result<RedisReply, RedisServerError> {
        do {
            return .success(try await redis.send(RedisArgument.list(command)))
        } catch {
            guard let refusal = error.serverError else {
                throw QueueError(.redis, "queue \(name): \(error)", cause: error)
            }
            return .failure(refusal)
        }
    }

    /// Returns the fields of a reply to INFO. CONFIG GET has them too, but also has passwords, so no user of minilab may run it.
    static func fields(of info: String) -> [String: String] {
        info.split(whereSeparator: \.isNewline).reduce(into: [:]) { fields, line in
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { fields[String(parts[0])] = String(parts[1]) }
        }
    }
}
