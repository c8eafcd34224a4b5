import Edits
import JobQueue
import Synchronization
import Editing
import Library
import Worker

/// A handler that does what a test says and remembers what it was asked to do.
final class FakeHandler: JobHandler {
    /// Calls, in order.
    enum Call: Equatable {
        case made(String)
        case published(CommittedVersion)
        case discarded(Hold)
        case swept(Hold)
        case asked
    }

    private let calls = Mutex<[Call]>([])
    private let holds: [Hold]
    private let onMake: @Sendable (Claim) async throws -> MadeJob
    private let onReach: @Sendable () throws(Failure) -> Void
    private let onPresence: @Sendable () throws(Failure) -> Void
    private let onPublish: @Sendable (CommittedVersion) async throws(Failure) -> Publication

    init(
        staged holds: [Hold] = [],
        make: @escaping @Sendable (Claim) async throws -> MadeJob = {
            .version(.made($0), isDraft: false)
        },
        publish: @escaping @Sendable (CommittedVersion) async throws(Failure) -> Publication = {
            _ throws(Failure) in .published
        },
        reach: @escaping @Sendable () throws(Failure) -> Void = {},
        presence: @escaping @Sendable () throws(Failure) -> Void = {}
    ) {
        self.holds = holds
        onMake = make
        onPublish = publish
        onReach = reach
        onPresence = presence
    }

    var seen: [Call] { calls.withLock { $0 } }

    func make(
        _ claim: Claim, _ hold: HeldJob, _ desk: JobDesk
    ) async throws -> MadeJob {
        calls.withLock { $0.append(.made(claim.job)) }
        return try await onMake(claim)
    }

    func publish(_ version: CommittedVersion) async throws(Failure) -> Publication {
        calls.withLock { $0.append(.published(version)) }
        return try await onPublish(version)
    }

    func discard(_ hold: Hold) async throws(Failure) {
        calls.withLock { $0.append(.discarded(hold)) }
    }

    func sweep(_ hold: Hold) async throws(Failure) -> Bool {
        calls.withLock { $0.append(.swept(hold)) }
        return true
    }

    func staged() async throws(Failure) -> [Hold] { holds }

    func reach() async throws(Failure) {
        calls.withLock { $0.append(.asked) }
        try onReach()
    }

    func checkPresence() async throws(Failure) { try onPresence() }
}

extension JobEvent.Completion {
    /// The event of a version that nobody has rendered.
    static func made(_ claim: Claim) -> Self {
        JobEvent.Completion(
            mode: .replace,
            version: .init(id: "1-\(claim.fence)", revision: 1, at: .init(path: "p")),
            render: nil, filters: nil)
    }
}
