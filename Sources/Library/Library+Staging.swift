public import Adjustments
public import FoundationEssentials
public import SystemPackage

/// A version in the making: a folder that belongs to one hold of one job.
public struct StagedVersion: Sendable, Hashable {
    /// The queue of the job.
    public let queue: String
    /// The job.
    public let job: String
    /// The fence of the hold.
    public let fence: String

    /// Names a staged version.
    public init(queue: String, job: String, fence: String) {
        self.queue = queue
        self.job = job
        self.fence = fence
    }

    /// `@` stands in no job id and no fence.
    var folderName: String { "\(job)@\(fence)" }

    init?(queue: String, folderName: String) {
        let parts = folderName.split(separator: "@")
        guard parts.count == 2 else { return nil }
        self.init(queue: queue, job: String(parts[0]), fence: String(parts[1]))
    }
}

extension Library {
    /// The folder of a staged version, there or not.
    public func folder(of staged: StagedVersion) -> FilePath {
        root.appending("staging").appending(staged.queue).appending(staged.folderName)
    }

    /// Makes the folder of a staged version, empty.
    public func stage(_ staged: StagedVersion) throws(Failure) -> FilePath {
        let folder = folder(of: staged)
        try Files.remove(folder)
        try Files.makeFolder(folder)
        return folder
    }

    /// Adds adjustment data and provenance to a rendered photo and makes all of it last.
    ///
    /// - Parameter timestamp: what the sidecar says about when the edit was made.
    public func seal(
        _ staged: StagedVersion, _ provenance: Provenance, stem: String, timestamp: Date
    ) throws(Failure) {
        let folder = folder(of: staged)
        let sidecar = AAESidecar(AdjustmentData(provenance.recipe), timestamp: timestamp)
        let bytes: Data
        do {
            bytes = try sidecar.encoded()
        } catch {
            throw Failure(.internalError, "the sidecar of \(stem) does not encode: \(error)")
        }
        try Files.sync(folder.appending(provenance.render.name))
        try Files.write(bytes, to: folder.appending(stem + ".AAE"))
        try Files.write(
            try provenance.encoded(), to: folder.appending(Provenance.fileName))
        try Files.sync(folder)
        try Files.sync(folder.removingLastComponent())
    }

    /// Removes a staged version that will not be published; nothing there is fine.
    public func discard(_ staged: StagedVersion) throws(Failure) {
        try Files.remove(folder(of: staged))
    }

    /// Everything that lies in staging for a queue.
    public func staged(in queue: String) throws(Failure) -> [StagedVersion] {
        try Files.list(root.appending("staging").appending(queue))
            .compactMap { StagedVersion(queue: queue, folderName: $0) }
    }
}
