public import Edits
public import JobQueue

extension JobReason {
    /// The reason for programs: `{"code":"freeSlot","ahead":12,"aboutSeconds":3}`. Unknown and inapplicable values are left out; it
    /// contains no name of a worker and no path of the server.
    public var json: JSONValue {
        var fields: [String: JSONValue] = ["code": .string(code)]
        func add(_ name: String, _ number: Int?) {
            if let number { fields[name] = .number(Double(number)) }
        }
        func add(_ name: String, _ text: String?) {
            if let text { fields[name] = .string(text) }
        }
        func addTime(_ name: String, _ time: Int?) { add(name, time.map(Phrase.time)) }
        func addSpan(_ name: String, _ span: Int?) { add(name, span.map(Phrase.seconds)) }
        func add(_ error: Failing) {
            add("error", error.code)
            add("message", PublicMessage.of(error.message))
        }
        func add(_ version: Version) {
            add("version", version.name)
            add("asset", version.asset)
        }
        switch self {
        case .laterFormat(_, let format): add("format", format)
        case .batchCancelled(let reason), .beingStopped(_, let reason): add("reason", reason)
        case .stopped(let stop, let position):
            if case .queuePaused(let reason) = stop { add("reason", reason) }
            switch position {
            case .ready(let ahead): add("ahead", ahead)
            case .batchStream(let batch, let ahead):
                add("batch", batch)
                add("ahead", ahead)
            }
        case .quarantined(let crashes, let ahead):
            add("crashes", crashes)
            add("ahead", ahead)
        case .tenantCap(_, let cap, let ahead, let about):
            add("cap", cap)
            add("ahead", ahead)
            addSpan("aboutSeconds", about)
        case .ableWorker(let unable, let ahead, let about):
            add("unable", unable)
            add("ahead", ahead)
            addSpan("aboutSeconds", about)
        case .freeSlot(let ahead, let about):
            add("ahead", ahead)
            addSpan("aboutSeconds", about)
        case .inBatchStream(let batch, let ahead, let about):
            add("batch", batch)
            add("ahead", ahead)
            addSpan("aboutSeconds", about)
        case .incoming(_, let hasWorkers, let hold):
            if !hasWorkers { fields["noWorker"] = .bool(true) }
            if hold != nil { fields["held"] = .bool(true) }
        case .retryAt(let due, let wait, let failures, let error):
            addTime("at", due)
            addSpan("aboutSeconds", wait)
            add("failures", failures)
            add(error)
        case .notBefore(let due, let wait):
            addTime("at", due)
            addSpan("aboutSeconds", wait)
        case .behindAsset(let asset, let holder):
            add("asset", asset)
            add("ahead", holder.map { $0.ahead + 1 })
        case .running(_, let since, let stage, let attempt):
            addSpan("forSeconds", since)
            add("attempt", attempt)
            add("stage", stage?.name)
            add("framesDone", stage?.progress?.framesDone)
            add("frames", stage?.progress?.frames)
        case .leaseLost(_, let ago): addSpan("forSeconds", ago)
        case .publishing(_, let version): add(version)
        case .publishingAgain(let version, let error):
            add(version)
            add(error)
        case .stuck(let since, let version, let error):
            addTime("at", since)
            add(version)
            add(error)
        case .cancelled(let at, let reason):
            addTime("at", at)
            add("reason", reason)
        case .unchanged(let at): addTime("at", at)
        case .superseded(let at, let asset):
            addTime("at", at)
            add("asset", asset)
        case .drafted(let at, let version), .published(let at, _, let version):
            addTime("at", at)
            add(version)
        case .dead(let at, let error, let advice):
            addTime("at", at)
            add(error)
            add("advice", advice.rawValue)
        case .unknownMember(let batch, let absence):
            add("batch", batch)
            if case .beyondSeal(let jobs) = absence { add("sealed", jobs) }
        case .dropped, .unknown: break
        }
        return .object(fields)
    }
}
