public import Edits
import Editing
import Files
public import JobQueue
public import Library
public import RenderPool
import SystemPackage

/// Makes and publishes photo edits in a library.
public struct PhotoJobHandler: JobHandler {
    let queue: QueueName
    let library: any LibraryStore
    let editor: AssetEditor
    let settings: WorkerSettings
    private let resources: ResourceFolder?

    /// Creates a handler for jobs of `queue` on the photos of `library`.
    public init(
        queue: QueueName, library: any LibraryStore, pool: RenderPool, settings: WorkerSettings
    ) {
        self.queue = queue
        self.library = library
        editor = AssetEditor(library: library, pool: pool, settings: settings.editing)
        self.settings = settings
        resources = settings.editing.resources.map { ResourceFolder(FilePath($0)) }
    }

    public var filesTravel: Bool { library.isElsewhere }

    public func publish(_ version: CommittedVersion) async throws(Failure) -> PublishOutcome {
        guard let name = VersionName(version.name) else {
            throw Failure(
                .internalError, "\(version.name.debugDescription) is no name of a version.")
        }
        let asset = try AssetPath(version.asset)
        let staged = stagedVersion(version.madeBy)
        return switch try await library.publish(name, of: asset, from: staged) {
        case .published: .published
        case .alreadyPublished: .alreadyPublished
        case .conflict(let current):
            .outdated("version \(current?.description ?? "0, the original,") is current now")
        case .publishedBefore(let before):
            .outdated("the job was published before, as version \(before)")
        case .lost: .outdated("its staged version no longer exists")
        }
    }

    public func discard(_ hold: StagedHold) async throws(Failure) {
        try await library.discard(stagedVersion(hold))
    }

    public func sweep(_ hold: StagedHold) async throws(Failure) -> Bool {
        let staged = stagedVersion(hold)
        return try await offPool { () throws(Failure) in try library.staging.sweep(staged) }
    }

    public func staged() async throws(Failure) -> [StagedHold] {
        try await offPool { () throws(Failure) in try library.staging.sweepable(in: queue.string) }
            .map { StagedHold(job: $0.job, fence: $0.fence) }
    }

    public func reach() async throws(Failure) {
        try await library.reach()
        try await resources?.check()
    }

    public func checkPresence() async throws(Failure) {
        try await library.checkPresence()
        try await resources?.check()
    }

    public func noteResources(_ areKnown: Bool) -> Bool { resources?.note(areKnown) ?? areKnown }

    func stagedVersion(_ hold: StagedHold) -> StagedVersion {
        StagedVersion(queue: queue.string, job: hold.job, fence: hold.fence)
    }
}
