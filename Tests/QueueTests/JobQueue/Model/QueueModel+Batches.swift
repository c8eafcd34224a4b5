// The life of a batch: its stream, its cancellation, its end.
extension QueueModel {
    mutating func feed(_ most: Int) -> [String] {
        var again = checkIdle()
        let next = batches.filter(\.value.isFedNext)
            .sorted { ($0.value.fedAt ?? 0, $0.key) < ($1.value.fedAt ?? 0, $1.key) }
            .prefix(rules.checksMax).map(\.key)
        if next.count == rules.checksMax { again = true }
        let now = tick()
        defer { takeTime() }
        var (made, fed) = (0, 0)
        for name in next {
            if made >= most || fed >= rules.batchStreamsMax {
                again = true
                break
            }
            if isEmpty(name), batches[name]?.sealed == nil {
                batches[name]?.fedAt = Self.idle
            } else {
                batches[name]?.fedAt = now
                made += feed(name, most - made)
                fed += 1
            }
        }
        return ["\(made)", again ? "1" : "0"]
    }

    /// Has a batch stream fed next. While the clock is behind, the entries of an idle one arrive now.
    mutating func feedNext(_ name: String) {
        guard let fedAt = batches[name]?.fedAt else { return }
        if isBehind, fedAt == Self.idle {
            batches[name]?.idleAt = reached
            batches[name]?.idleSince = Self.clockArrival + clock
        }
        batches[name]?.fedAt = 0
    }

    private func isEmpty(_ batchStream: String) -> Bool {
        batchStreams[batchStream]?.entries.isEmpty ?? true
    }

    /// Looks whether idle batch streams have entries; whether there are more of them.
    private mutating func checkIdle() -> Bool {
        let idle = batches.filter { $0.value.fedAt == Self.idle }.keys.sorted()
        if idle.isEmpty { return false }
        let first = nextCheck ?? 0
        let names = idle.dropFirst(first).prefix(rules.checksMax)
        let woken = names.filter { !isEmpty($0) }
        for name in woken { feedNext(name) }
        nextCheck = names.count < rules.checksMax ? 0 : first + names.count - woken.count
        return nextCheck != 0
    }

    /// How many open members of a batch were passed on.
    func apart(_ name: String) -> Int {
        jobs.values.count {
            $0.batch == name && !$0.unable.isEmpty && $0.state != .done && $0.state != .dead
        }
    }

    /// How many places of a window its open members take: those that were passed on take none, up to nine windows.
    func placesTaken(_ name: String, _ window: Int) -> Int {
        guard let batch = batches[name] else { return 0 }
        return batch.open - (batch.cap == nil ? min(apart(name), 9 * window) : 0)
    }

    private mutating func waitForRoom(_ name: String, _ most: Int) {
        let step = batches[name]?.cap != nil ? 1 : max(1, rules.window / 8)
        batches[name]?.refill = most - step
        batches[name]?.fedAt = Self.full
    }

    private mutating func feed(_ name: String, _ most: Int) -> Int {
        guard let batch = batches[name] else { return 0 }
        let left = (batch.sealed ?? .max) - batch.admitted
        if left <= 0 {
            batches[name]?.fedAt = nil
            return 0
        }
        guard let batchStream = batchStreams[name], !batchStream.entries.isEmpty else {
            batches[name]?.fedAt = Self.idle
            return 0
        }
        let limit = min(rules.window, batch.cap ?? rules.window)
        let open = placesTaken(name, rules.window)
        if open >= limit {
            waitForRoom(name, limit)
            return 0
        }
        let take = min(most, limit - open, left)
        let entries = batchStream.entries.prefix(take)
        batchStreams[name]?.entries.removeFirst(entries.count)
        let bytes = entries.enumerated().reduce(0) {
            $0 + Self.bytes(ofMember: $1.element.fields, batch.admitted + $1.offset + 1, batch.cap)
        }
        let gone = isEmpty(name) ? batch.streamBytes : min(batch.streamBytes, bytes)
        batches[name]?.streamBytes -= gone
        batches[name]?.admitted += entries.count
        batches[name]?.wasFed = true
        let first = sequence
        sequence += entries.count
        for (index, entry) in entries.enumerated() {
            admitMember(name, batch, batch.admitted + index, first + index + 1, entry.fields)
        }
        if left == entries.count {
            batches[name]?.fedAt = nil
        } else if isEmpty(name) {
            batches[name]?.fedAt = Self.idle
        } else if placesTaken(name, rules.window) >= limit {
            waitForRoom(name, limit)
        }
        return entries.count
    }

    private mutating func admitMember(
        _ name: String, _ batch: Batch, _ number: Int, _ sequence: Int, _ fields: [Field]
    ) {
        // Cancelled by its name before it was a job.
        if batch.ended.contains(number) { return }
        let f = Self.named(fields)
        var job = Job(id: "\(name):\(number)", state: .ready, asset: f["asset"] ?? "")
        job.batch = name
        job.tenant = batch.tenant
        job.cost = batch.cost
        let fault =
            Self.fault(f, known: ["asset", "edit", "cost", "arrived", "fields"])
            ?? (f["asset"] == nil ? "missingField" : nil)
            ?? (f["arrived"].map { Int($0) == nil } == true ? "invalidValue" : nil)
        if let fault {
            buryMalformed(job, fault)
            // There is nothing to run of it, so its record says no more than that.
            jobs[job.id]?.cost = nil
            return
        }
        if let cost = f["cost"] { job.cost = Int(cost) }
        job.edit = f["edit"]
        job.hasOwnEdit = f["edit"] != nil
        job.fields = f["fields"]
        job.priority = batch.priority
        job.sequence = sequence
        let now = arrivesNow()
        let arrived = f["arrived"].flatMap { Int($0) } ?? now
        let isAnew =
            (batch.idleAt.map { offset < $0 } ?? false) && arrived <= batch.idleSince
            || offset < floor && arrived <= floorArrival
        job.arrival = isAnew ? now : arrived
        takeIn(job)
    }

    /// Those that leave the stream before one has ended count as the records that they become.
    private static func bytes(ofMember fields: [Field], _ number: Int, _ cap: Int?) -> Int {
        let f = named(fields)
        return (number <= min(cap ?? 1000, 1000) ? 450 : 23)
            + ["asset", "edit", "fields"].reduce(0) { $0 + (f[$1] ?? "").utf8.count }
    }

    mutating func append(
        _ name: String, _ first: Int, _ members: [[Field]], _ edit: String, _ mustBeOpen: Bool
    ) -> [String] {
        let batch = batches[name]
        if batch == nil, seenNew["batch:\(name)"] ?? seenOld["batch:\(name)"] != nil {
            return ["USED"]
        }
        if batch == nil, mustBeOpen { return ["UNOPENED", "0"] }
        if let batch, !edit.isEmpty, edit != batch.edit { return ["OTHER", "0"] }
        if batch?.cancel != nil { return ["CANCELLED", "0"] }
        if let sealed = batch?.sealed, first + members.count > sealed {
            return ["SEALED", "\(sealed)"]
        }
        if members.isEmpty { return ["OK", "0"] }
        let had = batchStreams[name]?.last ?? 0
        guard had >= first else { return ["GAP", "\(had)"] }
        var added = 0
        for (index, fields) in members.enumerated() where first + index + 1 > had {
            let arrived = Field("arrived", "\(arrivesNow())")
            added += addToBatchStream(name, first + index + 1, fields + [arrived]) ? 1 : 0
            batches[name]?.streamBytes += Self.bytes(
                ofMember: fields, first + index + 1, batch?.cap)
        }
        if added > 0 {
            takeTime()
            if batch?.fedAt != nil { batches[name]?.fedAt = 0 }
        }
        return ["OK", "\(added)"]
    }

    mutating func cancelBatch(_ name: String, _ most: Int) -> [String] {
        guard let batch = batches[name] else { return ["GONE", "0"] }
        if batch.isComplete { return ["ENDED", "0"] }
        let reason = "batch over"
        touchedBatches.insert(name)
        if batch.cancel == nil {
            let waiting = batchStreams.removeValue(forKey: name)?.entries.count ?? 0
            batches[name]?.cancel = reason
            batches[name]?.fedAt = nil
            batches[name]?.refill = nil
            batches[name]?.streamBytes = 0
            if batch.uncountedInStream == nil {
                let batchStream = min(waiting, (batch.sealed ?? .max) - batch.admitted)
                let uncounted = (batch.admitted..<batch.admitted + batchStream)
                    .count { !batch.ended.contains($0) }
                batches[name]?.sealed = batch.admitted + batchStream
                batches[name]?.uncountedInStream = uncounted
                batches[name]?.counts["cancelled", default: 0] += uncounted
                count("cancelled", uncounted)
            }
            control.append("batch \(name)")
        }
        var (swept, open) = (0, 0)
        for number in 0..<batch.admitted
        where swept + open < most && !(batches[name]?.ended.contains(number) ?? true) {
            switch jobs["\(name):\(number)"]?.state {
            case .ready, .delayed, .parked, .stuck:
                cancel("\(name):\(number)", reason)
                swept += 1
            default: open += 1
            }
        }
        return ["OK", "\(open + (swept == most ? 1 : 0))"]
    }

    /// Cancels a member that is not a job yet.
    private mutating func cancelInStream(_ id: String, _ reason: String) -> String {
        let parts = id.split(separator: ":").map(String.init)
        guard parts.count == 2, let number = Int(parts[1]), let batch = batches[parts[0]],
            batch.fedAt != nil, number >= batch.admitted, number < batch.sealed ?? .max,
            let entries = batchStreams[parts[0]]?.entries, number < batch.admitted + entries.count
        else { return "GONE" }
        guard !batch.ended.contains(number) else { return "ENDED" }
        let fields = Self.named(entries[number - batch.admitted].fields)
        sequence += 1
        var job = Job(id: id, state: .done, asset: fields["asset"] ?? "")
        job.batch = parts[0]
        job.tenant = batch.tenant
        job.priority = batch.priority
        job.sequence = sequence
        job.arrival = arrivesNow()
        job.result = reason
        jobs[id] = job
        finish(id, "cancelled", reason)
        return "OK"
    }

    mutating func cancelOne(_ id: String, _ reason: String) -> String {
        guard let job = jobs[id] else { return cancelInStream(id, reason) }
        if job.parent != nil { return "GONE" }
        switch job.state {
        case .done, .dead: return "ENDED"
        case .committing: return "PUBLISHING"
        case .active:
            jobs[id]?.cancel = reason
            control.append("job \(id)")
            return "NOTIFIED"
        case .ready, .delayed, .parked, .stuck:
            cancel(id, reason)
            return "OK"
        }
    }
}
