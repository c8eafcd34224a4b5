public import Edits
import FoundationEssentials
import Redis

/// A job that a worker holds: under a lease, as long as its fence is the job's newest.
public struct Claim: Sendable, Equatable {
    public let job: String
    /// The token of this hold. Every write carries it, and Redis refuses an old one.
    public let fence: String
    /// The worker that holds it.
    public let worker: String
    /// The asset as the producer sent it: within the size limit, otherwise unchecked.
    public let asset: String
    /// The edit as the producer sent it: within the size limit, otherwise unchecked.
    public let edit: String
    /// The number of replays of the job, plus one.
    public let generation: Int
    /// The failed attempts of this generation so far.
    public let attempts: Int
    /// The number of workers that have died while they ran this generation.
    public let crashes: Int
    /// The number of times the asset changed during a render.
    public let rebases: Int
    /// The time from admission to this claim.
    public let queued: Duration
    public let batch: String?
    public let tenant: String
    /// Whether the job is in quarantine, so that no other job may run beside it.
    public let isQuarantined: Bool
    /// The time at which the job was sent, in µs since 1970, by the clock of the queue's server. It determines the order of
    /// the edits of one asset.
    public let arrival: Int

    /// The values of its asset for placeholders, as the producer sent them: a JSON object within the size limit, otherwise
    /// unchecked. They are people's names, and belong into no log, trace or event.
    public var fields: String?

    /// The trace that its producer made it a part of, or nil.
    public var traceparent: Traceparent?

    /// The highest revision that events told of its asset before the library was set back to an earlier one; 0 if it was not. Its version
    /// gets a higher one.
    public var told = 0

    /// The job that it is a part of, or nil. A part's ``edit`` is the task that its job gave.
    public let parent: String?

    /// The number of the part; nil if the job is not a part.
    public var part: Int? {
        parent == nil ? nil : job.split(separator: "+").last.flatMap { Int($0) }
    }

    /// The queue's time at the claim, in µs since 1970: fences are made of it. nil if the fence is none of a queue.
    public var queueTime: Int? { Int(fence) }

    public var hold: Hold { Hold(job: job, fence: fence) }

    /// The number of this attempt within its generation, from 1.
    public var attempt: Int { attempts + crashes + 1 }
}

extension JobEvent.Attempt {
    init(_ claim: Claim) {
        self.init(
            job: claim.job, asset: claim.asset, generation: claim.generation,
            attempt: claim.attempt, worker: claim.worker)
    }
}

/// A version that the queue has recorded as about to be published (committed).
public struct CommittedVersion: Sendable, Equatable {
    public let job: String
    /// The number of replays of the job, plus one. A generation is published at most once.
    public let generation: Int
    /// The fence of the hold that publishes. It can differ from that of the hold that made the version.
    public let fence: String
    /// The version's name.
    public let name: String
    /// The asset, as the producer sent it.
    public let asset: String

    /// The hold that made the version: a version's name ends in that hold's fence.
    public var madeBy: Hold { Hold(job: job, fence: Self.fence(inName: name)) }

    package static func fence(inName name: String) -> String {
        String(name[(name.lastIndex(of: "-").map(name.index(after:)) ?? name.startIndex)...])
    }

    /// Creates the version of a job that was committed under a claim.
    public init(_ name: String, of claim: Claim) {
        self.init(
            job: claim.job, generation: claim.generation, fence: claim.fence, name: name,
            asset: claim.asset)
    }

    init(job: String, generation: Int, fence: String, name: String, asset: String) {
        self.job = job
        self.generation = generation
        self.fence = fence
        self.name = name
        self.asset = asset
    }
}

/// A version that its worker left between commit and finalize. Another worker continues its publication.
@dynamicMemberLookup
public struct CarriedJob: Sendable, Equatable {
    /// The version, under the new hold.
    public let version: CommittedVersion
    /// The number of times its publication has been continued, including this time.
    public let carries: Int
    /// When it was sent, in µs since 1970.
    public let arrival: Int
    /// The trace that its producer made it a part of, or nil.
    public var traceparent: Traceparent?

    public subscript<Value>(dynamicMember field: KeyPath<CommittedVersion, Value>) -> Value {
        version[keyPath: field]
    }

    public var hold: Hold { Hold(job: version.job, fence: version.fence) }
}

/// One hold of a job. A worker may hold a job, lose it and claim it again; only the fence distinguishes the two holds.
public struct Hold: Sendable, Hashable {
    public let job: String
    /// The token of the hold. A fence is never reused.
    public let fence: String

    public init(job: String, fence: String) {
        self.job = job
        self.fence = fence
    }

    /// The reply of Redis to a write under a hold.
    public enum Reply: Sendable {
        /// The write was done, now or earlier by the same hold.
        case held
        /// Another worker holds the job, or the job has ended: this worker must not change anything.
        case fenced
        /// The job was cancelled and must not be published; ``JobQueue/concludeCancelled(_:)`` ends it.
        case cancelled
    }

    /// The reason why a worker must stop its work on a job.
    public enum End: Sendable {
        /// Another worker holds the job, or the job has ended: the worker must not write to it.
        case lost
        /// The job was cancelled. This worker still holds it and must end it.
        case cancelled
    }
}

extension Hold: Arguments {
    func append(to arguments: inout [RedisArgument]) {
        arguments += [RedisArgument(job), RedisArgument(fence)]
    }
}

/// One entry of a job's history: the reason why an attempt failed.
public struct Attempt: Sendable, Codable, Equatable {
    /// The time of the failure, RFC 3339: by Redis' clock for a lost lease, by the worker's clock otherwise.
    public let at: String
    /// The reason, for programs.
    public let code: FailureCode
    /// The reason, for people.
    public package(set) var message: String
    public let fence: String
    /// The worker that made the attempt.
    public package(set) var worker: String
    /// The stage that the attempt had reached, if it is known: `waiting` (for memory), `rendering`, `publishing`.
    public let stage: String?
    /// The signal that killed the render child, if any.
    public let signal: Int?

    /// The facts of an attempt that its failure does not contain.
    public struct Trace: Sendable {
        /// The stage that the attempt had reached.
        public var stage: String?
        /// The signal that killed the render child.
        public var signal: Int?

        public init(stage: String? = nil, signal: Int? = nil) {
            self.stage = stage
            self.signal = signal
        }
    }

    init(fence: String, worker: String, failure: Failure, trace: Trace) {
        at = Date.now.formatted(.iso8601)
        code = failure.code
        message = failure.message
        self.fence = fence
        self.worker = worker
        stage = trace.stage
        signal = trace.signal
    }

    /// The fields that can be read of an attempt that this release does not know: a later one wrote it, or it is damaged.
    init(unreadable json: [UInt8], because reason: String) {
        struct Readable: Decodable {
            var at, code, message, fence, worker: String?
        }
        let read: Readable
        do {
            read = try JSONDecoder().decode(Readable.self, from: Data(json))
        } catch {
            read = Readable()
        }
        at = read.at ?? Self.unknownTime
        code = .internalError
        message =
            ([read.code, read.message].compactMap(\.self)
            + ["this line of the history cannot be read as a whole: \(reason)."])
            .joined(separator: ": ")
        fence = read.fence ?? "?"
        worker = read.worker ?? "?"
        stage = nil
        signal = nil
    }

    /// The time of a failure whose time cannot be read.
    private static let unknownTime = "1970-01-01T00:00:00Z"
}
