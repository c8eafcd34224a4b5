import MinilabTesting

/// Makes sequences of commands that get far: most name what is there, by following the model.
struct CommandGenerator {
    private var random: SeededGenerator
    private(set) var model: QueueModel

    /// What a sequence is about: few assets make jobs wait for each other, few names make repeats.
    private var assets = ["a", "b", "c", "d/e f.jpg", "g", "h", "i", "k", "l", "n"]
    private var tenants = ["t", "u", "v"]
    private let workers = ["w", "x"]
    private var batches = ["m", "n", "o"]
    private var ids = (1...9).map { "j\($0)" }
    /// How many of a hundred commands are about batches' streams, and how many about single jobs.
    private var shares = (batchStreams: 10, jobs: 13)
    /// How many members have said when they arrived.
    private var arrivals = 0

    /// A sequence and the rules under which it runs: the same for the same seed.
    static func sequence(seed: UInt64, count: Int) -> (rules: QueueRules, commands: [QueueCommand])
    {
        var generator = CommandGenerator(seed: seed)
        var commands: [QueueCommand] = []
        for _ in 0..<count {
            let command = generator.command()
            _ = generator.model.apply(command)
            commands.append(command)
        }
        return (generator.model.rules, commands)
    }

    private init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        var rules = QueueRules()
        // Half of the queues are roomy, so that nothing hides what goes wrong without a limit.
        if Bool.random(using: &random) {
            rules.doneMax = .random(in: 3...6, using: &random)
            rules.window = .random(in: 1...4, using: &random)
            rules.batchStreamsMax = .random(in: 1...3, using: &random)
            rules.checksMax = .random(in: 1...3, using: &random)
            rules.passedMax = .random(in: 1...3, using: &random)
            rules.cappedMax = .random(in: 1...3, using: &random)
            rules.malformedMax = .random(in: 1...3, using: &random)
            rules.aheadMax = .random(in: 2...6, using: &random)
            rules.carriesMax = .random(in: 0...2, using: &random)
            rules.crashesMax = .random(in: 1...3, using: &random)
            rules.voidsMax = .random(in: 0...2, using: &random)
            rules.batchesMax = Bool.random(using: &random) ? 0 : 1000
            // More names than done records, or a name would be free before its members' records are gone.
            rules.seenMax = .random(in: 20...24, using: &random)
        }
        model = QueueModel(rules: rules)
        assets = Array(assets.prefix(one(of: [1, 2, 4, assets.count])))
        tenants = Array(tenants.prefix(one(of: [1, 2, 3])))
        batches = Array(batches.prefix(one(of: [1, 1, 3])))
        ids = Array(ids.prefix(one(of: [2, ids.count])))
        shares = one(of: [(0, 22), (10, 12), (22, 0), (22, 4)])
    }

    // MARK: Choosing

    private mutating func one<T>(of values: [T]) -> T {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    private mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    private mutating func few<T>(_ make: (inout Self) -> T) -> [T] {
        var made = [make(&self)]
        while made.count < 4 && chance(35) { made.append(make(&self)) }
        return made
    }

    /// A job: mostly one in these states, if there is one.
    private mutating func job(_ states: QueueModel.State...) -> String {
        let fit = states.flatMap { model.jobs($0) }.map(\.id)
        if !fit.isEmpty && chance(85) { return one(of: fit) }
        let any = model.jobs.keys.sorted()
        if !any.isEmpty && chance(80) { return one(of: any) }
        return chance(50) ? "\(one(of: batches)):\(one(of: [0, 1, 2, 3, 4, 5]))" : one(of: ids)
    }

    /// - Parameter whole: whether it is that of a job, and of no part: parts are not published.
    private mutating func hold(
        _ states: QueueModel.State..., whole: Bool = false
    ) -> QueueCommand.Hold {
        var fit = states.flatMap { model.jobs($0) }.map(\.id)
        if fit.isEmpty || chance(10) { fit = model.fences.keys.sorted() }
        if whole { fit.removeAll { $0.contains("+") } }
        let id = fit.isEmpty ? one(of: ids) : one(of: fit)
        return QueueCommand.Hold(id, age: chance(88) ? 0 : chance(70) ? 1 : nil)
    }

    /// A hold that its worker has lost, mostly one for which a crash was counted.
    private mutating func lostHold() -> QueueCommand.Hold {
        let blamed = model.jobs.values.filter { !$0.blamed.isEmpty }.map(\.id).sorted()
        if blamed.isEmpty || chance(20) { return hold(.active, .committing) }
        return QueueCommand.Hold(one(of: blamed), age: one(of: [0, 0, 1, 2]))
    }

    // MARK: Making

    /// What a command is about. What can do something now is likely, and the rest is tried at times.
    private enum Kind: CaseIterable {
        case job, batch, batchStream, admit, feed, promote, claim, beat, pardon, commit, finalize,
            handOn, giveBack, passOn, append, restore, replayLost, spill,
            conclude
        case preview, fail, release, split, claimPart, clockSteps
        case leaseRunsOut, becomesDue, reap, replay, cancel, cancelBatch, configure,
            askedWorkerIsLate, fallsSilent, takesADay

        func weight(in model: QueueModel, _ shares: (batchStreams: Int, jobs: Int)) -> Int {
            func has(_ states: QueueModel.State...) -> Bool {
                model.jobs.values.contains { states.contains($0.state) }
            }
            let isFed = model.batches.contains {
                $0.value.fedAt != nil && model.batchStreams[$0.key]?.entries.isEmpty == false
            }
            switch self {
            case .job: return shares.jobs
            case .batch: return shares.batchStreams / 3 + (isFed ? 2 : 0)
            case .batchStream: return shares.batchStreams
            case .admit: return model.ingress.isEmpty && model.urgent.isEmpty ? 1 : 20
            case .feed: return isFed ? 12 : 1
            case .promote:
                let isDue = model.jobs.values.contains { $0.state == .delayed && $0.over != nil }
                return isDue ? 14 : 1
            case .claim: return has(.ready) ? 20 : 1
            case .beat: return has(.active) || model.asked != nil ? 12 : 2
            case .pardon: return model.jobs.values.contains { !$0.blamed.isEmpty } ? 10 : 2
            case .commit: return has(.active) ? 14 : 1
            case .finalize: return has(.committing) ? 16 : 1
            case .handOn: return has(.committing) ? 6 : 1
            case .giveBack: return model.jobs.values.contains { $0.carries > 0 } ? 8 : 1
            case .passOn: return has(.active) && !model.workers.isEmpty ? 5 : 1
            case .restore: return model.spilled > 0 ? 4 : 2
            case .replayLost: return has(.done) ? 4 : 1
            case .spill: return has(.dead) ? 4 : 1
            case .append: return shares.batchStreams / 2
            case .conclude: return has(.active) ? 3 : 1
            case .preview: return 1
            case .fail: return has(.active) ? 10 : 1
            case .release: return has(.active, .committing) ? 3 : 1
            case .split: return has(.active) ? 5 : 0
            case .claimPart: return model.parts.isEmpty ? 0 : 6
            case .clockSteps: return 3
            case .leaseRunsOut: return has(.active, .committing) ? 10 : 0
            case .becomesDue: return has(.delayed) ? 10 : 0
            case .reap: return model.jobs.values.contains { $0.isLeased && $0.over != nil } ? 14 : 2
            case .replay: return has(.dead, .stuck) ? 6 : 1
            case .cancel: return 3
            case .cancelBatch: return model.batches.isEmpty ? 1 : 3
            case .configure: return model.config["paused"] == nil ? 3 : 10
            case .askedWorkerIsLate: return model.asked == nil ? 0 : 20
            case .takesADay: return has(.active, .committing) ? 5 : 0
            case .fallsSilent: return model.workers.isEmpty ? 0 : 3
            }
        }
    }

    private mutating func kind() -> Kind {
        let weights = Kind.allCases.map { $0.weight(in: model, shares) }
        var draw = Int.random(in: 0..<weights.reduce(0, +), using: &random)
        for (kind, weight) in zip(Kind.allCases, weights) {
            draw -= weight
            if draw < 0 { return kind }
        }
        return .claim
    }

    private mutating func command() -> QueueCommand {
        switch kind() {
        case .job: .enqueue(chance(96) ? jobFields() : faultyFields(), isUrgent: chance(25))
        case .batch: .enqueue(batchFields(), isUrgent: chance(15))
        case .batchStream: batchStreamEntry()
        case .admit: .admit(atMost: chance(70) ? 200 : one(of: [1, 2]))
        case .feed: .feed(atMost: chance(70) ? 200 : one(of: [1, 2]))
        case .promote: .promote(atMost: one(of: [1, 2, 50]))
        case .claim:
            .claim(
                worker: one(of: workers), atMost: one(of: [1, 1, 2, 3, 8]), isIdle: chance(60))
        case .beat:
            .beat(
                worker: one(of: workers), few { $0.hold(.active, .committing) },
                stage: one(of: ["", "fetching", "render"]),
                percent: one(of: [nil, nil, 4, 37, 74, 100]))
        case .pardon: .pardon(few { $0.lostHold() })
        case .commit:
            .commit(
                few { $0.hold(.active, whole: true) }, version: one(of: ["1-1", "2-2"]),
                outcome: chance(85) ? "completed" : "drafted")
        case .finalize: .finalize(few { $0.hold(.committing, whole: true) })
        case .handOn: .handOn(hold(.committing, whole: true))
        case .giveBack: .giveBack(hold(.committing, whole: true))
        case .passOn:
            .passOn(
                hold(.active, whole: true), worker: one(of: workers),
                needs: one(of: [
                    "", "", "memory 5", "memory 9", "memory 10", "release 1", "release 2",
                ]),
                isForGood: chance(70))
        case .replayLost: replayLost()
        case .spill: .spill(few { $0.job(.dead) }, age: chance(90) ? 0 : 1)
        case .append: append()
        case .restore:
            .restore(
                chance(50) ? movedJob() : plainJob(), generation: one(of: [1, 1, 2]),
                [
                    .init("asset", one(of: assets)), .init("edit", one(of: ["e1", "e2"])),
                    .init("tenant", one(of: tenants)),
                    .init("priority", one(of: ["interactive", "normal", "bulk"])), cost(),
                ] + (chance(20) ? [.init("fields", #"{"name":"Cy"}"#)] : []),
                isOfThisDeath: chance(50))
        case .split:
            .split(
                hold(.active), task: one(of: ["t1", "t1", "t2"]),
                one(of: [[1], [1, 2], [1, 2, 3]]))
        case .claimPart: claimPart()
        case .clockSteps: .clockSteps(one(of: [-60, -3600, -86_400, -31_536_000, 60]))
        case .conclude:
            .conclude(
                hold(.active),
                outcome: one(of: ["rendered", "unchanged", "superseded", "cancelled"]))
        case .preview: .preview(hold(.active))
        case .fail:
            .fail(
                hold(.active), counts: one(of: ["attempts", "crashes"]),
                one(of: [.dead, .dead, .later, .later, .alone]))
        case .release:
            .release(
                hold(.active, .committing), reason: one(of: ["shutdown", "rebase", "pressure"]))
        case .leaseRunsOut: .leaseRunsOut(job(.active, .committing))
        case .becomesDue: .becomesDue(job(.delayed))
        case .reap:
            .reap(
                worker: one(of: workers), atMost: chance(80) ? 100 : 1, forgets: chance(25))
        case .replay: .replay(few { $0.job(.dead, .stuck) }, edit: one(of: ["", "", "e9"]))
        case .cancel: .cancel(few { $0.job(.ready, .parked, .delayed, .active, .stuck) })
        case .cancelBatch: .cancelBatch(batch(), atMost: one(of: [200, 200, 1, 2]))
        case .configure: .configure(few { $0.setting() })
        case .askedWorkerIsLate: .askedWorkerIsLate
        case .takesADay: .takesADay(job(.active, .committing))
        case .fallsSilent: .fallsSilent(worker: one(of: workers))
        }
    }

    private mutating func claimPart() -> QueueCommand {
        let split = model.parts.keys.sorted().filter { model.jobs[$0]?.state == .active }
        let hold = split.isEmpty ? hold(.active) : QueueCommand.Hold(one(of: split))
        return .claimPart(hold, one(of: [1, 2, 3]))
    }

    private mutating func batch() -> String {
        let open = model.batches.filter { !$0.value.isComplete }.keys.sorted()
        return open.isEmpty || chance(15) ? one(of: batches) : one(of: open)
    }

    /// Two that are valid, one to be written anew, and one that is passed over.
    private static let traceparents = [
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-02-later", "no trace",
    ]

    private mutating func jobFields() -> [QueueCommand.Field] {
        var fields = [
            QueueCommand.Field("asset", one(of: assets)),
            QueueCommand.Field("edit", one(of: ["e1", "e1", "e2"])), cost(),
        ]
        if chance(75) { fields.append(.init("id", one(of: ids))) }
        if chance(60) { fields.append(.init("tenant", one(of: tenants))) }
        if chance(60) {
            fields.append(.init("priority", one(of: ["interactive", "normal", "bulk"])))
        }
        if chance(10) {
            fields.append(.init("notBefore", one(of: [QueueModel.past, QueueModel.future])))
        }
        if chance(10) {
            fields.append(.init("deadline", one(of: [QueueModel.past, QueueModel.future])))
        }
        if chance(12) { fields.append(.init("replace", one(of: ["waiting", "running"]))) }
        if chance(20) { fields.append(.init("traceparent", one(of: Self.traceparents))) }
        if chance(15) { fields.append(values()) }
        return fields
    }

    /// The values of an asset; some have too many bytes.
    private mutating func values() -> QueueCommand.Field {
        let name = chance(95) ? one(of: ["Ada", "Bo"]) : String(repeating: "x", count: 1024)
        return .init("fields", #"{"name":"\#(name)"}"#)
    }

    private mutating func cost() -> QueueCommand.Field {
        .init("cost", "\(one(of: [1, 10, 10, 100, 333, 86_400_000]))")
    }

    /// Entries of the ingress stream that are wrong, each in its own way.
    private mutating func faultyFields() -> [QueueCommand.Field] {
        var fields = jobFields()
        switch Int.random(in: 0..<5, using: &random) {
        case 0: fields.removeFirst()
        case 1: fields.append(.init("colour", "red"))
        case 2: fields.append(.init("id", "j 1"))
        case 3: fields.append(.init("cost", "much"))
        default: fields.append(.init("priority", "alone"))
        }
        return fields
    }

    private mutating func batchFields() -> [QueueCommand.Field] {
        var fields = [QueueCommand.Field("batch", one(of: batches))]
        let opens = chance(65)
        if opens {
            fields += [.init("edit", one(of: ["f1", "f1", "f1", "f2"])), cost()]
            if chance(50) { fields.append(.init("tenant", one(of: tenants))) }
            if chance(30) { fields.append(.init("priority", one(of: ["interactive", "normal"]))) }
            if chance(30) { fields.append(.init("cap", "\(one(of: [1, 2, 3]))")) }
        }
        if !opens || chance(30) {
            let name = fields[0].value
            let given =
                (model.batches[name]?.admitted ?? 0)
                + (model.batchStreams[name]?.entries.count ?? 0)
            fields.append(.init("seal", "\(max(1, given + one(of: [-1, 0, 0, 0, 1, 3])))"))
            if chance(30) { fields.append(.init("total", "5000")) }
        }
        return fields
    }

    private mutating func batchStreamEntry() -> QueueCommand {
        let open = model.batches.filter { $0.value.fedAt != nil }.keys.sorted()
        let batch = open.isEmpty || chance(10) ? one(of: batches) : one(of: open)
        var fields: [QueueCommand.Field] = []
        if chance(96) { fields.append(.init("asset", one(of: assets))) }
        if chance(20) { fields.append(.init("edit", "e3")) }
        if chance(30) { fields.append(chance(92) ? cost() : .init("cost", "much")) }
        if chance(15) { fields.append(values()) }
        // Between the arrivals of entries of the ingress stream, and of no other member.
        if chance(40) {
            arrivals += 1
            fields.append(
                .init("arrived", chance(95) ? "\(one(of: [0, 2, 5, 9]) * 1000 + arrivals)" : "soon")
            )
        }
        if chance(3) || fields.isEmpty { fields.append(.init("id", "j1")) }
        let next = (model.batchStreams[batch]?.last ?? 0) + 1
        return .addToBatchStream(batch: batch, number: chance(92) ? next : max(1, next - 1), fields)
    }

    /// A dead job that is no member of a batch, if there is one: a batch that is opened later refuses a member of its name.
    private mutating func plainJob() -> String {
        let dead = model.jobs(.dead).map(\.id).filter { !$0.contains(":") }
        return dead.isEmpty ? one(of: ids) : one(of: dead)
    }

    /// A job that was moved to the library, if there is one and it is no member of a batch.
    private mutating func movedJob() -> String {
        let moved = model.seenNew.filter { $0.value.contains(" lost ") && !$0.key.contains(":") }
            .keys.sorted()
        return moved.isEmpty ? one(of: ids) : one(of: moved)
    }

    private mutating func replayLost() -> QueueCommand {
        let made = model.jobs(.done) { $0.outcome == "completed" || $0.outcome == "drafted" }
            .map(\.id)
        let id = made.isEmpty || chance(15) ? job(.done, .ready) : one(of: made)
        let known = model.jobs[id]
        return .replayLost(
            id, version: chance(90) ? known?.version ?? "1-1" : "2-2",
            asset: known?.asset ?? one(of: assets), told: one(of: [1, 1, 2, 3]))
    }

    private mutating func append() -> QueueCommand {
        let open = model.batches.filter { $0.value.fedAt != nil }.keys.sorted()
        let batch = open.isEmpty || chance(15) ? one(of: batches) : one(of: open)
        let had = model.batchStreams[batch]?.last ?? 0
        let members = few { generator in
            var fields = [QueueCommand.Field("asset", generator.one(of: generator.assets))]
            if generator.chance(20) { fields.append(.init("edit", "e3")) }
            if generator.chance(30) { fields.append(generator.cost()) }
            if generator.chance(15) { fields.append(generator.values()) }
            return fields
        }
        return .append(
            batch: batch, from: max(0, had + one(of: [0, 0, 0, 0, -1, 1])),
            chance(95) ? members : [],
            edit: chance(80) ? "" : one(of: ["f1", "f2"]), mustBeOpen: chance(50))
    }

    private mutating func setting() -> QueueCommand.Field {
        switch Int.random(in: 0..<10, using: &random) {
        case 0 where model.config["paused"] == nil: .init("paused", "because")
        case 0..<3 where model.config["paused"] != nil: .init("paused", "")
        case 0..<3: .init("cap", one(of: ["", "1", "2"]))
        case 3..<7: .init("cap:\(one(of: tenants + ["default"]))", one(of: ["", "0", "1", "2"]))
        default: .init("weight:\(one(of: tenants))", one(of: ["", "2", "3", "7"]))
        }
    }
}
