/// One thing that a producer, a worker, an operator or time does to a queue.
///
/// A command names jobs by id and holds by how old they are, so a sequence stays meaningful when commands
/// before it are left out: what is missing is then simply not there.
enum QueueCommand: Sendable, Equatable {
    /// A producer appends an entry of these fields to an ingress stream.
    case enqueue([Field], isUrgent: Bool = false)
    /// A producer adds an entry to a batch's stream as number `number`, from 1.
    case addToBatchStream(batch: String, number: Int, [Field])
    /// A client of the gateway adds members, each of these fields, as numbers from `from` on, from 0.
    case append(batch: String, from: Int, [[Field]], edit: String, mustBeOpen: Bool)
    case admit(atMost: Int)
    case feed(atMost: Int)
    case promote(atMost: Int)
    case claim(worker: String, atMost: Int, isIdle: Bool)
    case beat(worker: String, [Hold], stage: String, percent: Int?)
    /// A worker is back that has lost these holds.
    case pardon([Hold])
    case commit([Hold], version: String, outcome: String)
    case finalize([Hold])
    case conclude(Hold, outcome: String)
    case preview(Hold)
    /// A worker could not publish a version.
    case handOn(Hold)
    /// A worker that was to publish a version for another one cannot.
    case giveBack(Hold)
    /// The machine of a worker cannot do a job.
    ///
    /// - Parameters:
    ///   - needs: what a worker must have for it; empty: nobody knows.
    ///   - isForGood: whether the job ends where no able worker lives.
    case passOn(Hold, worker: String, needs: String, isForGood: Bool)
    case fail(Hold, counts: String, Verdict)
    case release(Hold, reason: String)
    /// A worker splits its job into parts that others may run.
    case split(Hold, task: String, [Int])
    /// A worker runs a part of its job itself.
    case claimPart(Hold, Int)
    /// - Parameter forgets: whether all that has ended counts as old.
    case reap(worker: String, atMost: Int, forgets: Bool)
    case replay([String], edit: String)
    /// An operator has a done job started again whose version a restored library lacks.
    ///
    /// - Parameter told: the highest revision that was told of the asset.
    case replayLost(String, version: String, asset: String, told: Int)
    /// A worker has moved dead jobs to the library.
    ///
    /// - Parameter age: the generations that they have died in since they were read.
    case spill([String], age: Int)
    /// An operator restores a dead job from a file.
    ///
    /// - Parameter isOfThisDeath: whether the file tells of the death by which the job is dead now.
    case restore(String, generation: Int, [Field], isOfThisDeath: Bool)
    case cancel([String])
    case cancelBatch(String, atMost: Int)
    case configure([Field])
    /// The server's clock is set, by seconds: back, or on by less than a lease.
    case clockSteps(Int)
    /// Time passes: the lease of a job runs out.
    case leaseRunsOut(String)
    /// Time passes: a delayed job is due.
    case becomesDue(String)
    /// Time passes: the worker that was asked to become idle was not heard of.
    case askedWorkerIsLate
    /// Time passes: a worker holds a job for a day.
    case takesADay(String)
    /// Time passes: a worker was not heard of for long.
    case fallsSilent(worker: String)

    struct Field: Sendable, Equatable, CustomStringConvertible {
        let name: String
        let value: String
        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
        var description: String { "\(name)=\(value)" }
    }

    /// A worker's claim to a job.
    struct Hold: Sendable, Equatable, CustomStringConvertible {
        let job: String
        /// How many holds of the job came after it; nil for a fence that nobody was given.
        let age: Int?
        init(_ job: String, age: Int? = 0) {
            self.job = job
            self.age = age
        }
        var description: String {
            switch age {
            case 0: job
            case let age?: "\(job) held \(age) before"
            case nil: "\(job) never held"
            }
        }
    }

    enum Verdict: String, Sendable {
        case dead, later, alone
    }
}

/// What is left open to whoever runs a queue.
struct QueueRules: Sendable, Equatable {
    var doneMax = 1000
    var window = 1000
    var batchStreamsMax = 8
    var checksMax = 1000
    var passedMax = 200
    var cappedMax = 200
    var crashesToQuarantine = 2
    var crashesMax = 3
    var carriesMax = 5
    var voidsMax = 10
    var malformedMax = 1000
    var aheadMax = 1000
    var batchesMax = 1000
    var seenMax = 1_000_000
}
