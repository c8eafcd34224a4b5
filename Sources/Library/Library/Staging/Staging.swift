public import Edits
public import Editors
package import Files
import FoundationEssentials
public import SystemPackage

/// A version that is being made: a folder that belongs to one hold of one job.
public struct StagedVersion: Sendable, Hashable {
    /// The queue of the job.
    public let queue: String
    /// The job.
    public let job: String
    /// The fence of the hold.
    public let fence: String

    /// Creates a staged version.
    public init(queue: String, job: String, fence: String) {
        self.queue = queue
        self.job = job
        self.fence = fence
    }

    /// The name of its folder. `@` occurs in no job id and no fence.
    var folderName: String { "\(job)@\(fence)" }

    init?(queue: String, folderName: String) {
        let parts = folderName.split(separator: "@")
        guard parts.count == 2 else { return nil }
        self.init(queue: queue, job: String(parts[0]), fence: String(parts[1]))
    }
}

/// The versions that are being made on this machine:
///
/// ```
/// <root>/staging/<queue>/<job>@<fence>/             a version that is being made
/// <root>/holds/<queue>/<job>@<fence>                locked by the worker that makes that version
/// ```
///
/// All calls block on files; call them outside Swift's cooperative threads.
public struct Staging: Sendable {
    /// The folder that contains both: the library's own, or a machine's scratch folder.
    public let root: FilePath
    package let files: FileSystem
    let locks = StagingLocks()

    package init(root: FilePath, files: FileSystem) {
        self.root = root
        self.files = files
    }

    /// Returns the folder of a staged version, whether or not it exists.
    public func folder(of staged: StagedVersion) -> FilePath {
        root.appending("staging").appending(staged.queue).appending(staged.folderName)
    }

    /// Checks whether versions can be made: a disk may be full, broken, or mounted read-only.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public func checkWritable() throws(Failure) {
        let folder = root.appending("staging")
        try files.makeFolder(folder)
        let file = try OpenFile.nameless(in: folder.string, name: "a file in \(folder)")
        try file.write([0], at: 0)
    }

    /// Creates the empty folder of a staged version.
    @discardableResult
    public func begin(_ staged: StagedVersion) throws(Failure) -> FilePath {
        let folder = folder(of: staged)
        try lock(staged)
        try files.remove(folder)
        try files.makeFolder(folder)
        return folder
    }

    /// Adds a file of the same disk to a staged version, without copying it if the file system can.
    ///
    /// - Parameter name: its path in the staged folder.
    package func link(
        _ source: FilePath, as name: String, into staged: StagedVersion
    ) throws(Failure) {
        let path = folder(of: staged).pushing(FilePath(name))
        try files.makeFolder(path.removingLastComponent())
        try files.link(source, at: path)
    }

    /// Writes the adjustment data of a staged version.
    ///
    /// - Returns: the record of the data for the content.
    public func write(
        _ sidecar: AAESidecar, as name: String, into staged: StagedVersion
    ) throws(Failure) -> Content.Adjustment {
        let path = folder(of: staged).appending(name)
        try files.write(try sidecar.encoded(), to: path)
        return Content.Adjustment(
            sidecar: name, sidecarSHA256: try FileDigest.sha256(of: path.string).hex,
            sidecar.adjustment)
    }

    /// Adds the provenance to a staged version and syncs all its files.
    package func seal(_ staged: StagedVersion, _ provenance: Provenance) throws(Failure) {
        let folder = folder(of: staged)
        if let sentence = provenance.misnomer {
            throw Failure(.damagedVersion, "the provenance of \(provenance.version) \(sentence).")
        }
        if let content = provenance.content {
            for name in content.fileNames { try files.sync(folder.pushing(FilePath(name))) }
            for name in content.folderNames { try files.sync(folder.appending(name)) }
        }
        try files.write(try provenance.encoded(), to: folder.appending(Provenance.fileName))
        try files.sync(folder)
        try files.sync(folder.removingLastComponent())
    }

    /// Removes a staged version that will not be published. If there is none, the call succeeds.
    ///
    /// It is unlocked even if it cannot be removed, so that the next sweep of any worker removes it.
    public func discard(_ staged: StagedVersion) throws(Failure) {
        do throws(Failure) {
            try files.remove(folder(of: staged))
        } catch {
            locks.release(staged)
            throw error
        }
        try release(staged)
    }

    /// Returns all staged versions of a queue.
    public func staged(in queue: String) throws(Failure) -> [StagedVersion] {
        try files.list(root.appending("staging").appending(queue))
            .compactMap { StagedVersion(queue: queue, folderName: $0) }
    }
}

extension Content {
    /// The folder of the base layer within a version's folder.
    public static let baseFolder = "base"
    /// The folder of the previews within a version's folder.
    public static let previewsFolder = "previews"

    /// All its files, as paths in a version's folder.
    public var fileNames: [String] {
        [render.name, adjustment.sidecar]
            + [pairedVideo?.name, base?.name, base?.pairedVideo?.name].compactMap(\.self)
            + previews.map(\.image.name)
    }

    var folderNames: [String] {
        (base == nil ? [] : [Self.baseFolder]) + (previews.isEmpty ? [] : [Self.previewsFolder])
    }
}
