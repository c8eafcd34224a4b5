import Edits
import Redis

/// The Lua scripts: each state transition of a job is one of them. `JobState` explains the structures
/// of jobs; a file of `Scripts/Shared` explains the other keys of its subject.
enum QueueScript {
    static let admit = script("admit", PackageResources.admit_lua)
    static let submit = script("submit", PackageResources.submit_lua)
    static let submitBatch = script("submit_batch", PackageResources.submit_batch_lua)
    static let feed = script("feed", PackageResources.feed_lua)
    static let admitWhileFull = script(
        "admit_while_full", PackageResources.admit_lua, drains: true)
    static let feedWhileFull = script("feed_while_full", PackageResources.feed_lua, drains: true)
    static let append = script("append", PackageResources.append_lua)
    static let promote = script("promote", PackageResources.promote_lua, drains: true)
    static let claim = script("claim", PackageResources.claim_lua, drains: true)
    static let beat = script("beat", PackageResources.beat_lua, drains: true)
    static let pardon = script("pardon", PackageResources.pardon_lua, drains: true)
    static let split = script("split", PackageResources.split_lua)
    static let claimPart = script("claim_part", PackageResources.claim_part_lua, drains: true)
    static let commit = script("commit", PackageResources.commit_lua, drains: true)
    static let preview = script("preview", PackageResources.preview_lua)
    static let conclude = script("conclude", PackageResources.conclude_lua, drains: true)
    static let finalize = script("finalize", PackageResources.finalize_lua, drains: true)
    static let handOn = script("hand_on", PackageResources.hand_on_lua, drains: true)
    static let fail = script("fail", PackageResources.fail_lua, drains: true)
    static let passOn = script("pass_on", PackageResources.pass_on_lua, drains: true)
    static let joinLibrary = script(
        "join_library", PackageResources.join_library_lua, drains: true)
    static let generation = script("generation", PackageResources.generation_lua, drains: true)
    static let release = script("release", PackageResources.release_lua, drains: true)
    static let reap = script("reap", PackageResources.reap_lua, drains: true)
    static let claimDuty = script("claim_duty", PackageResources.claim_duty_lua, drains: true)
    static let tend = script("tend", PackageResources.tend_lua, drains: true)
    static let replay = script("replay", PackageResources.replay_lua, drains: true)
    static let replayLost = script("replay_lost", PackageResources.replay_lost_lua, drains: true)
    static let restore = script("restore", PackageResources.restore_lua, drains: true)
    static let removeDead = script("remove_dead", PackageResources.remove_dead_lua, drains: true)
    static let cancel = script("cancel", PackageResources.cancel_lua, drains: true)
    static let cancelBatch = script("cancel_batch", PackageResources.cancel_batch_lua, drains: true)
    static let configure = script("configure", PackageResources.configure_lua, drains: true)
    static let explain = script("explain", PackageResources.explain_lua, reading: true)
    static let census = script("census", PackageResources.census_lua, reading: true)
    static let raiseFormat = script(
        "raise_format", PackageResources.raise_format_lua, drains: true)
    static let rights = script("rights", PackageResources.rights_lua, reading: true)
    static let inspect = Inspection("inspect", PackageResources.inspect_lua)
    static let inspectFlows = Inspection("inspect_flows", PackageResources.inspect_flows_lua)
    static let inspectGroups = Inspection("inspect_groups", PackageResources.inspect_groups_lua)
    static let inspectTimes = Inspection("inspect_times", PackageResources.inspect_times_lua)
    static let inspectStored = Inspection("inspect_stored", PackageResources.inspect_stored_lua)
    static let inspectBatch = Inspection("inspect_batch", PackageResources.inspect_batch_lua)

    private static let inspections = [
        inspect, inspectFlows, inspectGroups, inspectTimes, inspectStored, inspectBatch,
    ]
    /// The scripts of a doctor that only looks, and of one that mends.
    static let looks = inspections.map(\.look)
    static let mends = inspections.map(\.mend)

    /// A script of the doctor, which looks or mends. One text, so that both find the same: a script that only looks runs where no
    /// write is accepted, on a full disk, on a replica, and with too few replicas.
    struct Inspection: Sendable {
        let look: RedisScript
        let mend: RedisScript

        init(_ name: String, _ text: [UInt8]) {
            look = QueueScript.script(name, text, reading: true)
            mend = QueueScript.script(name + "_mend", text, drains: true)
        }
    }

    /// The texts that scripts share, ordered so that each file uses only names of earlier files.
    static let shared: [[UInt8]] = [
        Array(JobState.lua.utf8),
        PackageResources.records_lua,
        PackageResources.events_lua,
        PackageResources.flows_lua,
        PackageResources.parts_lua,
        PackageResources.batches_lua,
        PackageResources.jobs_lua,
        PackageResources.entries_lua,
        PackageResources.streams_lua,
        PackageResources.batch_streams_lua,
        PackageResources.admission_lua,
    ]

    /// The first line of a script that only reads.
    static let reads = "#!lua flags=no-writes\n"

    /// Returns a script. Redis reads its flag from the first line (Redis 7.0 and newer).
    ///
    /// - Parameters:
    ///   - drains: Whether it runs when Redis is at `maxmemory`. Scripts that end jobs must run then; scripts that accept new jobs
    ///     must not, but for a few entries that have filled it (``JobQueue/admitWhileFull()``).
    ///   - reading: Whether it only reads, so that it runs in every state of a server.
    static func script(
        _ name: String, _ text: [UInt8], drains: Bool = false, reading: Bool = false
    ) -> RedisScript {
        let body = String(decoding: text, as: UTF8.self)
        let first = reading ? reads : drains ? "#!lua flags=allow-oom\n" : "#!lua\n"
        return RedisScript(name: name, source: first + ScriptLinker.linked(body))
    }
}

/// Assembles a script from its own text and the declarations of `Scripts/Shared` that it needs.
///
/// Redis executes the whole text of a script at each call and creates each function in it anew. That costs 0.4 µs per function: a
/// third of a short script's time when every script contained all functions. So a script contains the declarations that its
/// text names, those that these name, and so on, in the order of the files.
///
/// Constants are replaced by their values: Lua takes at most 200 local variables in one function, and the longest script has more
/// declarations than that.
enum ScriptLinker {
    /// One declaration at the top level of a file, up to the next declaration.
    struct Piece: Sendable {
        let names: [Substring]
        let text: String
        let identifiers: Set<Substring>
    }

    /// Returns a script's text with the declarations that it needs before it.
    static func linked(_ body: String) -> String { inlined(shared(for: body) + body) }

    /// Returns the shared text that precedes a script's own text.
    static func shared(for body: String) -> String {
        var isNeeded = [Bool](repeating: false, count: pieces.count)
        var open = [Set(identifiers(in: body[...]))]
        while let identifiers = open.popLast() {
            for (index, piece) in pieces.enumerated()
            where !isNeeded[index] && piece.names.contains(where: identifiers.contains) {
                isNeeded[index] = true
                open.append(piece.identifiers)
            }
        }
        return zip(pieces, isNeeded).reduce(into: "") { if $1.1 { $0 += $1.0.text } }
    }

    private static let declarations: [Piece] = QueueScript.shared.flatMap { file in
        split(String(decoding: file, as: UTF8.self))
    }
    private static let pieces = declarations.filter { values(of: $0).isEmpty }
    /// The values of constants, as Lua.
    private static let constants = declarations.reduce(into: [:]) {
        $0.merge(values(of: $1)) { first, _ in first }
    }

    /// Returns the values of a declaration of constants; none for another one. Constants have names of capitals, and are numbers,
    /// products of numbers, or strings without commas.
    static func values(of piece: Piece) -> [Substring: String] {
        let line = piece.text.split(separator: "\n")
        guard line.count == 1,
            let parts = line[0].wholeMatch(of: /local ([A-Z0-9_, ]+) = ([^-]*?)\s*(?:--.*)?/)
        else { return [:] }
        let values = parts.2.split(separator: ",").map { $0.trimmingPrefix(while: \.isWhitespace) }
        guard values.count == piece.names.count,
            values.allSatisfy({ $0.wholeMatch(of: /\d+( \* \d+)*|'[^'\\]*'/) != nil })
        else { return [:] }
        return Dictionary(uniqueKeysWithValues: zip(piece.names, values.map { "(\($0))" }))
    }

    /// Returns a text with the values of constants instead of their names.
    private static func inlined(_ text: String) -> String {
        var inlined = ""
        var end = text.startIndex
        for name in identifiers(in: text[...]) {
            guard let value = constants[name] else { continue }
            inlined += text[end..<name.startIndex] + value
            end = name.endIndex
        }
        return inlined + text[end...]
    }

    /// Splits a file into declarations. Each begins with `local` in the first column. Comments between them are left out.
    static func split(_ file: String) -> [Piece] {
        var pieces: [[Substring]] = []
        for line in file.split(separator: "\n") where !line.hasPrefix("--") {
            if line.hasPrefix("local ") {
                pieces.append([line])
            } else {
                precondition(!pieces.isEmpty, "a shared file begins with local, not with \(line)")
                pieces[pieces.count - 1].append(line)
            }
        }
        return pieces.map { lines in
            let text = lines.joined(separator: "\n") + "\n"
            let isFunction = lines[0].hasPrefix("local function ")
            let declared = lines[0].prefix { $0 != (isFunction ? "(" : "=") }
            return Piece(
                names: identifiers(in: declared).filter { !["local", "function"].contains($0) }
                    .map { Substring(String($0)) },
                text: text, identifiers: Set(identifiers(in: text[...])))
        }
    }

    /// Returns the names in a piece of Lua that may refer to declarations: names outside comments and strings that do not
    /// follow a dot.
    static func identifiers(in lua: Substring) -> [Substring] {
        var identifiers: [Substring] = []
        var rest = lua
        var last: Character = " "
        while let first = rest.first {
            if rest.hasPrefix("--") {
                rest = rest.drop { !$0.isNewline }
            } else if first == "'" || first == "\"" {
                rest = skipString(rest, first)
                last = " "
            } else if first.isLetter || first == "_" {
                let identifier = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                if last != "." { identifiers.append(identifier) }
                rest = rest.dropFirst(identifier.count)
                last = " "
            } else {
                // `..` concatenates strings; a single dot precedes a field.
                last = first == "." && last == "." ? " " : first
                rest = rest.dropFirst()
            }
        }
        return identifiers
    }

    private static func skipString(_ text: Substring, _ quote: Character) -> Substring {
        var rest = text.dropFirst()
        while let next = rest.first, next != quote {
            rest = rest.dropFirst(next == "\\" ? 2 : 1)
        }
        return rest.dropFirst()
    }
}

/// Sends the writes of several jobs that arrive at about the same time in one script call.
///
/// A write is sent at once if no other call is in progress. Writes that arrive during a call are sent together after its reply.
/// So the latency of a single job is unchanged, and many jobs share the cost of a call in Redis: of the 10 µs that a commit took
/// alone, 6 were for the call.
///
/// A failed call fails all its writes: each write is safe to repeat, as it is alone.
actor WriteGatherer {
    /// The maximum number of jobs of one call.
    static let jobsMax = 64

    private typealias Waiter = CheckedContinuation<Result<RedisReply, QueueError>, Never>
    private let send: @Sendable ([RedisArgument]) async -> Result<[RedisReply], QueueError>
    private var waiting: [(arguments: [RedisArgument], waiter: Waiter)] = []
    private var isSending = false

    /// - Parameter send: Makes one script call with the arguments of several jobs and returns one reply per job.
    init(_ send: @escaping @Sendable ([RedisArgument]) async -> Result<[RedisReply], QueueError>) {
        self.send = send
    }

    /// Sends the arguments of one job and returns its reply.
    func write(_ arguments: [RedisArgument]) async throws(QueueError) -> RedisReply {
        let result = await withCheckedContinuation { (waiter: Waiter) in
            waiting.append((arguments: arguments, waiter: waiter))
            if !isSending {
                isSending = true
                Task { await sendAll() }
            }
        }
        return try result.get()
    }

    private func sendAll() async {
        while !waiting.isEmpty {
            let some = waiting.prefix(Self.jobsMax)
            waiting.removeFirst(some.count)
            switch await send(some.flatMap(\.arguments)) {
            case .success(let answers) where answers.count == some.count:
                for (write, answer) in zip(some, answers) {
                    write.waiter.resume(returning: .success(answer))
                }
            case .success(let answers):
                let error = QueueError(
                    .unexpectedReply, "\(answers.count) answers came to \(some.count) writes.")
                for write in some { write.waiter.resume(returning: .failure(error)) }
            case .failure(let error):
                for write in some { write.waiter.resume(returning: .failure(error)) }
            }
        }
        isSending = false
    }
}
