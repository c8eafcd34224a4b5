import Foundation
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

@Suite("Model of the queue") struct ModelTests {
    /// How many commands a sequence has.
    private static let length = 40
    /// How many sequences run at the same time; each has a queue of its own.
    private static let width = 16
    /// How many sequences are run.
    private static let sequences = Volume.trials(byDay: 100, byNight: 10_000)

    @Test func `random sequences of commands do to Redis what they do to the model`() async throws {
        let q = try await QueueFixture()
        let random = SeededGenerator()
        random.printSeed()
        let failure = try await firstFailure(
            from: random.seed, count: Self.sequences, on: q.redis)
        if let failure { Issue.record("\(failure)") }
    }

    /// All that scripts did is in the append-only file, and is done again by Redis when it starts.
    @Test func `Redis stopped and killed between the commands of a sequence changes nothing`()
        async throws
    {
        let server = try await RedisServer.start(syncsEachWrite: true)
        let q = try await QueueFixture(on: server)
        let random = SeededGenerator()
        random.printSeed()
        for offset in 0..<Volume.trials(byDay: 5, byNight: 200) {
            let seed = random.seed &+ UInt64(offset)
            let (rules, commands) = CommandGenerator.sequence(seed: seed, count: Self.length)
            var trial = Trial(redis: q.redis, rules: rules)
            trial.restart = { index in
                guard index % 10 == 9 else { return false }
                let before = try await q.queue.now()
                server.kill(index == 19 ? SIGKILL : SIGTERM)
                try await server.waitForEnd()
                try await server.launch()
                try await q.reconnect()
                // A script looks for another server after 0.1 s without one.
                while try await q.queue.now() < before + 101 {}
                return true
            }
            let difference = try await trial.difference(commands)
            #expect(difference == nil, "\(SeededGenerator.variable)=\(seed)")
        }
        server.stop()
    }

    /// Sequences that only ever find nothing would show nothing.
    @Test func `the sequences get everywhere`() throws {
        var reached: Set<String> = []
        for seed in 0..<600 {
            let (rules, commands) = CommandGenerator.sequence(
                seed: UInt64(seed), count: Self.length)
            var model = QueueModel(rules: rules)
            for command in commands {
                let name = String("\(command)".prefix { $0 != "(" })
                for word in model.apply(command) { reached.insert("\(name) \(word)") }
                if model.isBehind { reached.insert("a clock that is behind") }
                if model.parts.values.contains(where: { $0.ended.values.contains(true) }) {
                    reached.insert("a part that ended")
                }
                if !model.capped.isEmpty { reached.insert("a flow at its cap") }
                if model.batches.values.contains(where: { $0.generation > 1 }) {
                    reached.insert("a batch that is open again")
                }
            }
            reached.formUnion(model.events.map(\.type))
            reached.formUnion(model.counters.keys)
        }
        let expected = """
            a flow at its cap, a batch that is open again, addToBatchStream OK, addToBatchStream REFUSED, beat K, beat C, \
            beat E, beat L, cancel OK, cancel NOTIFIED, cancel PUBLISHING, cancel ENDED, cancel GONE, \
            cancelBatch OK, cancelBatch ENDED, cancelBatch GONE, claim paused, claim alone, claim again, \
            commit OK, commit GONE, commit FENCED, commit CANCELLED, conclude OK, fail OK, fail FENCED, \
            finalize OK, finalize GONE, finalize FENCED, release OK, release FENCED, replay OK, \
            replay NOTDEAD, replay MALFORMED, replay STUCK, handOn OK, handOn GONE, \
            handOn FENCED, giveBack OK, giveBack GONE, passOn OK, passOn DEAD, passOn GONE, passOn NONE, claim left, \
            replayLost OK, replayLost AGAIN, replayLost SHED, spill 1, spill 0, deadSpilled, \
            append OK, append GAP, append SEALED, append CANCELLED, append OTHER, append UNOPENED, append USED, restore OK, restore DEAD, restore THERE, restore OTHER, job.stuck, stuck, replay GONE, batch.completed, batch.conflict, job.cancelled, \
            job.completed, job.conflict, job.drafted, job.failed, job.previewed, job.progressed, job.retried, \
            job.rendered, job.unchanged, job.superseded, split OK, claimPart OURS, claimPart BUSY, a part that ended, a clock that is behind, crashed, voided, pardoned, pardon RELEASED, pardon PARDONED, pardon NOTHING, duplicates, malformedDropped, membersDropped, quarantined, replayed
            """.components(separatedBy: ", ")
        #expect(Set(expected).subtracting(reached).isEmpty)
    }

    /// What a careless change could take away.
    enum Mistake: CaseIterable {
        case anyFenceCommits, assetIsKept, memberCountsTwice, costIsIgnored, repeatIsRefused
        case lostClaimIsACrash, pardonIsForgotten, livingWorkerIsBlamed, timeIsNotCharged
        case restIsNotReported, roundBeginsAnew, passedJobsAreMet, anyQuarantineIsAwaited
        case apartTakesPlaces, apartOutlivesItsJob
        case nameIsUsedAgain, streamOutlivesItsBatch, windowStaysFull, idleStreamIsNotChecked
        case wrongEntryKeepsItsBatch
        case sleeperIsLeft, restWakesNobody, leftWakesNobody
        case memberEndsUntold, bytesAreKept, bytesOfAnEditAreForgotten
        case fieldsAreNoDifference, fieldsOutliveTheirJob, fieldsOfAMemberAreLost,
            bytesOfFieldsAreForgotten
        case fieldsHaveNoFormat, fieldsOfARestoredJobAreLost, fieldsOfAnAddedMemberAreLost,
            bytesOfFieldsEndWithAReplay, fieldsOfTheFirstAreForgotten, renditionsAreNoEnd
        case parkedByAdmission, laterIsNotReplaced, newerIsReplaced, urgentIsSecond,
            aheadIsUnbounded, parkedKeepsOut, dueIsForgotten, lostIsDuplicate
        case lostArrivesAnew, lostIsListed, lostMemberIsCountedDead, anyVersionIsLost,
            toldIsNotGiven,
            toldStays, toldFalls
        case smallMachineTakesIt, needIsForgotten, smallMachineIsAble, anyGenerationIsRestored,
            fedBatchIsFirst
        case partIsCountedTwice, doorFollowsTheClock, streamFollowsTheClock, unchangedIsARender

        var script: RedisScript {
            switch self {
            case .anyFenceCommits: QueueScript.commit
            case .assetIsKept, .memberCountsTwice, .repeatIsRefused, .timeIsNotCharged,
                .windowStaysFull, .sleeperIsLeft:
                QueueScript.finalize
            case .costIsIgnored, .restIsNotReported, .restWakesNobody, .leftWakesNobody,
                .roundBeginsAnew, .passedJobsAreMet, .anyQuarantineIsAwaited:
                QueueScript.claim
            case .lostClaimIsACrash, .livingWorkerIsBlamed: QueueScript.reap
            case .lostArrivesAnew, .lostIsListed, .lostMemberIsCountedDead, .anyVersionIsLost,
                .toldFalls:
                QueueScript.replayLost
            case .toldIsNotGiven, .smallMachineTakesIt: QueueScript.claim
            case .toldStays: QueueScript.finalize
            case .needIsForgotten, .smallMachineIsAble: QueueScript.passOn
            case .anyGenerationIsRestored: QueueScript.restore
            case .fedBatchIsFirst, .apartTakesPlaces: QueueScript.feed
            case .apartOutlivesItsJob: QueueScript.finalize
            case .pardonIsForgotten: QueueScript.pardon
            case .partIsCountedTwice, .unchangedIsARender: QueueScript.conclude
            case .doorFollowsTheClock: QueueScript.admit
            case .dueIsForgotten: QueueScript.promote
            case .memberEndsUntold: QueueScript.cancel
            case .bytesAreKept, .fieldsOutliveTheirJob: QueueScript.finalize
            case .fieldsOfAMemberAreLost: QueueScript.feed
            case .fieldsOfARestoredJobAreLost: QueueScript.restore
            case .fieldsOfAnAddedMemberAreLost: QueueScript.append
            case .bytesOfFieldsEndWithAReplay: QueueScript.replay
            case .fieldsHaveNoFormat, .fieldsOfTheFirstAreForgotten: QueueScript.admit
            case .renditionsAreNoEnd: QueueScript.conclude
            case .fieldsAreNoDifference, .bytesOfFieldsAreForgotten: QueueScript.admit
            case .bytesOfAnEditAreForgotten: QueueScript.replay
            case .idleStreamIsNotChecked, .wrongEntryKeepsItsBatch, .parkedByAdmission,
                .streamFollowsTheClock:
                QueueScript.feed
            case .nameIsUsedAgain, .streamOutlivesItsBatch, .laterIsNotReplaced, .newerIsReplaced,
                .urgentIsSecond, .aheadIsUnbounded, .parkedKeepsOut, .lostIsDuplicate:
                QueueScript.admit
            }
        }

        var change: (from: String, to: String) {
            switch self {
            case .anyFenceCommits: ("if j[2] ~= fence then return 'FENCED' end", "")
            case .assetIsKept:
                ("local ms = end_hold(j)\n  leave_asset(j)", "local ms = end_hold(j)")
            case .memberCountsTwice: ("tally(j.batch, how, 1)", "tally(j.batch, how, 2)")
            case .costIsIgnored: ("math.ceil(cost * 1000)", "1000")
            case .timeIsNotCharged:
                ("if by ~= 0 then guarded(settle", "if false then guarded(settle")
            case .sleeperIsLeft: ("settle_stored, wake_workers,", "settle_stored,")
            case .restWakesNobody: ("if claimed == most or what == 'again'", "if what == 'again'")
            case .leftWakesNobody: ("elseif is_left or later[1] then", "elseif false then")
            case .restIsNotReported:
                ("if what == '' and (stopped or", "if what == '' and (false or")
            case .roundBeginsAnew: ("elseif last and (stopped or round) then", "elseif false then")
            case .passedJobsAreMet: ("return looks.behind[flow] and", "return false and")
            case .apartTakesPlaces: ("if not cap then open = open -", "if false then open = open -")
            case .apartOutlivesItsJob: ("if passed or sign < 0 and j.unable then", "if passed then")
            case .anyQuarantineIsAwaited:
                ("elseif not may_get_alone() then", "elseif false then")
            case .lostClaimIsACrash: ("j.confirmed ~= j.fence", "false")
            case .partIsCountedTwice:
                (
                    "'lease', id) == 0 then return false end",
                    "'lease', id) == 2 then return false end"
                )
            case .doorFollowsTheClock, .streamFollowsTheClock:
                ("or US < least and us <= least then", "then")
            case .unchangedIsARender:
                (
                    "(outcome == 'completed' or outcome == 'drafted') and",
                    "(outcome ~= 'cancelled') and"
                )
            case .lostArrivesAnew:
                ("j.arrival = arrival_of(j)", "j.arrival = int(next_time())")
            case .lostIsListed: ("call('LREM', P .. 'done', '-1', id)", "")
            case .lostMemberIsCountedDead: ("j.cost, 'done')", "j.cost, 'dead')")
            case .anyVersionIsLost: ("if of ~= version then return 'AGAIN' end", "")
            case .toldIsNotGiven: ("int(told_of(j.asset) or 0)", "'0'")
            case .toldStays: ("if revision then end_told(j.asset, revision) end", "")
            case .toldFalls: ("if tonumber(revision) > (told_of(asset) or 0) then", "if true then")
            case .smallMachineTakesIt: ("or not meets(worker, j.needs))", ")")
            case .needIsForgotten:
                ("if needs then call('HSET', P .. 'job:' .. id, 'needs', needs) end", "")
            case .smallMachineIsAble:
                ("and meets(name, needs) then return true", "then return true")
            case .anyGenerationIsRestored:
                ("ended ~= 'dropped' or last ~= generation", "ended ~= 'dropped'")
            case .fedBatchIsFirst: ("schedule_feeding(batch, turn)", "schedule_feeding(batch, '0')")
            case .pardonIsForgotten: ("'crashes', '-1'", "'crashes', '0'")
            case .livingWorkerIsBlamed: ("if heard and", "if false and")
            case .parkedByAdmission:
                (
                    "'parked:' .. j.asset, arrival_of(j), j.id",
                    "'parked:' .. j.asset, j.sequence, j.id"
                )
            case .urgentIsSecond: ("ipairs(DOORS)", "ipairs({DOORS[2], DOORS[1]})")
            case .aheadIsUnbounded: ("room = door.share * AHEAD_MAX", "room = 1000000")
            case .parkedKeepsOut: ("zsets, seen = 0, {P .. 'parked'},", "zsets, seen = 0, {},")
            case .memberEndsUntold:
                (
                    "finish(j, 'cancelled', data, 0)\n  return 'OK'",
                    "member_ended(j, 'cancelled', 0)\n  return 'OK'"
                )
            case .bytesAreKept: ("unstore(j.tenant, j.stored)", "")
            case .fieldsAreNoDifference:
                ("digest(f.asset, f.edit, f.fields)", "digest(f.asset, f.edit)")
            case .fieldsOutliveTheirJob: ("if j.fields then call('HDEL', k, 'fields') end", "")
            case .fieldsOfAMemberAreLost: ("fields = not code and f.fields or nil,", "")
            case .bytesOfFieldsAreForgotten: (" + #(j.fields or '')", "")
            // The linker has replaced the names of the formats.
            case .fieldsHaveNoFormat: ("j.fields and ('4') or ('2')", "('2')")
            case .fieldsOfARestoredJobAreLost:
                (", fields = fields ~= '' and fields or nil", "")
            case .fieldsOfAnAddedMemberAreLost: ("{'edit', 'cost', 'fields'}", "{'edit', 'cost'}")
            case .bytesOfFieldsEndWithAReplay: ("+ bytes + #(j.fields or '')", "+ bytes")
            case .fieldsOfTheFirstAreForgotten: ("or '', job[6])", "or '')")
            case .renditionsAreNoEnd:
                (
                    "finish(j, outcome, data, ms)",
                    "finish(j, outcome == 'rendered' and 'unchanged' or outcome, data, ms)"
                )
            case .bytesOfAnEditAreForgotten: ("keep_size(j, #edit)", "")
            case .dueIsForgotten: ("if j then make_ready(j) end", "")
            case .lostIsDuplicate:
                ("if not before.ended then return count", "if true then return count")
            case .laterIsNotReplaced:
                ("replace_waiting(P .. 'later:' .. asset, 'delayed', arrival, reason)", "")
            case .newerIsReplaced: ("'-inf', '(' .. arrival, 'LIMIT'", "'-inf', '+inf', 'LIMIT'")
            case .repeatIsRefused: ("if j.state == 'done' then return 'OK' end", "")
            case .nameIsUsedAgain:
                ("if seen('batch:' .. f.batch) then return 'USED' end", "")
            case .windowStaysFull: ("if b[10] then refill(batch, tonumber(b[10])) end", "")
            case .idleStreamIsNotChecked:
                ("local again = check_idle(checks, pace)", "local again = false")
            case .wrongEntryKeepsItsBatch: ("if o[2] then member_gone(o[2]) end", "")
            case .streamOutlivesItsBatch:
                ("call('UNLINK', P .. 'lane:' .. batch)\n  call('HDEL'", "call('HDEL'")
            }
        }
    }

    /// Of the model itself, and not of the scripts: by night.
    @Test(.enabled("by night: MINILAB_NIGHT=1") { Volume.isNight }, arguments: Mistake.allCases)
    func `a mistake in a script is found and comes down to few commands`(
        _ mistake: Mistake
    ) async throws {
        let q = try await QueueFixture()
        let source = String(decoding: mistake.script.source, as: UTF8.self)
        let wrong = source.replacingOccurrences(of: mistake.change.from, with: mistake.change.to)
        #expect(wrong != source)
        let failure = try #require(
            try await firstFailure(
                from: 1, count: 3000, on: q.redis,
                replacement: RedisScript(name: mistake.script.name, source: wrong)))
        print("\(mistake): \(failure)")
        #expect(failure.commands.count <= 16)
    }

    /// The seed of the environment is that of the first sequence, so a failing one can be run alone.
    private func firstFailure(
        from seed: UInt64, count: Int, on redis: RedisClient, replacement: RedisScript? = nil
    ) async throws -> SeededFailure? {
        try await withThrowingTaskGroup(of: SeededFailure?.self) { group in
            for offset in 0..<count {
                if offset >= Self.width, let failure = try await group.next() ?? nil {
                    group.cancelAll()
                    return failure
                }
                group.addTask {
                    let seed = seed &+ UInt64(offset)
                    let (rules, commands) = CommandGenerator.sequence(
                        seed: seed, count: Self.length)
                    let trial = Trial(redis: redis, rules: rules, replacement: replacement)
                    return try await trial.failure(of: commands)
                        .map { SeededFailure(seed: seed, failure: $0) }
                }
            }
            for try await failure in group {
                if let failure {
                    group.cancelAll()
                    return failure
                }
            }
            return nil
        }
    }

    private struct SeededFailure: Sendable, CustomStringConvertible {
        let seed: UInt64
        let failure: Trial.Failure
        var commands: [QueueCommand] { failure.commands }
        var description: String { "repeat with \(SeededGenerator.variable)=\(seed): \(failure)" }
    }
}
