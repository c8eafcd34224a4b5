/// Finds a smaller sequence that still fails, of which no single command can be left out.
///
/// Delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28,
/// 2002): runs of commands are left out, long ones first; then single words of commands.
struct Shrinker {
    /// Most tries; what is smallest by then is the answer.
    static let triesMax = 2000

    let fails: ([QueueCommand]) async throws -> Bool

    func shrink(_ commands: [QueueCommand]) async throws -> [QueueCommand] {
        var tries = 0
        var best = commands
        func isBetter(_ candidate: [QueueCommand]) async throws -> Bool {
            tries += 1
            guard tries < Self.triesMax, try await fails(candidate) else { return false }
            best = candidate
            return true
        }
        var size = max(1, best.count / 2)
        while true {
            var start = 0
            var hasShrunk = false
            while start < best.count {
                let rest = best[..<start] + best[min(best.count, start + size)...]
                if try await isBetter(Array(rest)) { hasShrunk = true } else { start += size }
            }
            if size > 1 {
                size /= 2
            } else if !hasShrunk {
                break
            }
        }
        var index = 0
        while index < best.count {
            var hasShrunk = false
            for simpler in best[index].simpler where !hasShrunk {
                var candidate = best
                candidate[index] = simpler
                hasShrunk = try await isBetter(candidate)
            }
            if !hasShrunk { index += 1 }
        }
        return best
    }
}

extension QueueCommand {
    /// The same with one word less. What a job costs stays: the mean of earlier ones would be the clock's.
    var simpler: [QueueCommand] {
        switch self {
        case .enqueue(let fields, let isUrgent):
            Self.shorter(fields, but: Self.isCost).map { .enqueue($0, isUrgent: isUrgent) }
        case .addToBatchStream(let batch, let number, let fields):
            Self.shorter(fields, but: Self.isCost).map {
                .addToBatchStream(batch: batch, number: number, $0)
            }
        case .claim(let worker, let most, let isIdle):
            most > 1 ? [.claim(worker: worker, atMost: most - 1, isIdle: isIdle)] : []
        case .beat(let worker, let holds, let stage, let percent):
            Self.shorter(holds).map { .beat(worker: worker, $0, stage: stage, percent: percent) }
        case .commit(let holds, let version, let outcome):
            Self.shorter(holds).map { .commit($0, version: version, outcome: outcome) }
        case .finalize(let holds): Self.shorter(holds).map { .finalize($0) }
        case .replay(let ids, let edit): Self.shorter(ids).map { .replay($0, edit: edit) }
        case .cancel(let ids): Self.shorter(ids).map { .cancel($0) }
        case .configure(let settings): Self.shorter(settings).map { .configure($0) }
        default: []
        }
    }

    private static func isCost(_ field: Field) -> Bool { field.name == "cost" }

    private static func shorter<T>(
        _ words: [T], but stays: (T) -> Bool = { _ in false }
    ) -> [[T]] {
        guard words.count > 1 else { return [] }
        return words.indices.filter { !stays(words[$0]) }.map { index in
            var shorter = words
            shorter.remove(at: index)
            return shorter
        }
    }
}
