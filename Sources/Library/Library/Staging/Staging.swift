public import Editors
public import Edits
public import Files
import FoundationEssentials
import Glibc
import Synchronization
public import SystemPackage

/// A version that is being made: a folder that belongs to one hold of one job.
public struct StagedVersion: Sendable, Hashable {
    /// The queue of the job.
    public let queue: String
    public let job: String
    /// The fence of the hold.
    public let fence: String

    public init(queue: String, job: String, fence: String) {
        (self.queue, self.job, self.fence) = (queue, job, fence)
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
        (self.root, self.files) = (root, files)
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

    /// Adds the provenance and the list of renditions to a staged version and syncs all its files.
    package func seal(
        _ staged: StagedVersion, _ provenance: Provenance, _ sizes: SizeList = SizeList()
    ) throws(Failure) {
        let folder = folder(of: staged)
        if let sentence = provenance.misnomer {
            throw Failure(.damagedVersion, "the provenance of \(provenance.version) \(sentence).")
        }
        try complete(staged, sizes)
        try complete(staged, provenance.content, try provenance.encoded())
        try files.sync(folder.removingLastComponent())
    }

    /// Syncs the renditions of a staged version, and adds their list.
    func complete(_ staged: StagedVersion, _ sizes: SizeList) throws(Failure) {
        guard !sizes.isEmpty else { return }
        let folder = folder(of: staged)
        for name in sizes.names {
            guard let rendition = sizes.renditions[name] else { continue }
            try files.sync(folder.pushing(FilePath(rendition.stagedName)))
        }
        let inside = folder.appending(SizeList.folder)
        // There is none if all of them are gone.
        try files.makeFolder(inside)
        try files.write(sizes.encoded(), to: inside.appending(SizeList.fileName))
        try files.sync(inside)
    }

    /// Syncs the files of a staged version, and adds its provenance.
    func complete(
        _ staged: StagedVersion, _ content: Content?, _ provenance: [UInt8]
    ) throws(Failure) {
        let folder = folder(of: staged)
        if let content {
            let recorded = content.recordedFiles
            for file in recorded { try files.sync(folder.pushing(FilePath(file.name))) }
            for name in Set(recorded.compactMap(\.folder)).sorted() {
                try files.sync(folder.appending(name))
            }
        }
        try files.write(provenance, to: folder.appending(Provenance.fileName))
        try files.sync(folder)
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
    public var fileNames: [String] { recordedFiles.map(\.name) }
}

/// The remains of dead workers in staging:
///
/// ```
/// <root>/holds/<queue>/<job>@<fence>     locked by the worker that makes the staged version of this name
/// ```
///
/// A queue's records tell whether a version is wanted. But two Redis servers with queues of one name may use the
/// same library, as when one takes over from the other, and neither knows the other's jobs. So versions that a
/// living process is making are never swept. Versions that are not locked are swept by the workers of either
/// server. If one of them was sealed by a worker that died, it is rendered again.
extension Staging {
    func lockFile(of staged: StagedVersion) -> FilePath {
        root.appending("holds").appending(staged.queue).appending(staged.folderName)
    }

    /// Locks a staged version before it is made.
    func lock(_ staged: StagedVersion) throws(Failure) {
        let path = lockFile(of: staged)
        try files.makeFolder(path.removingLastComponent())
        try locks.acquire(staged, at: path)
    }

    /// Unlocks a staged version that is published or removed, even if the file of its lock cannot be removed.
    func release(_ staged: StagedVersion) throws(Failure) {
        // Removed before closing, so that no other process locks a file that is being removed.
        defer { locks.release(staged) }
        try files.remove(lockFile(of: staged))
    }

    /// Returns the candidates of a sweep: staged versions, and locks without one that a crash left.
    public func sweepable(in queue: String) throws(Failure) -> [StagedVersion] {
        let locked = try files.list(root.appending("holds").appending(queue))
            .compactMap { StagedVersion(queue: queue, folderName: $0) }
        let staged = try staged(in: queue)
        let known = Set(staged)
        return staged + locked.filter { !known.contains($0) }
    }

    /// Removes an unwanted staged version, unless a living process is making it.
    ///
    /// - Returns: whether it was removed.
    public func sweep(_ staged: StagedVersion) throws(Failure) -> Bool {
        switch try FileSystem.lock(lockFile(of: staged), O_RDWR) {
        case .others: return false
        // Made by a release that did not lock staged versions.
        case .none: try discard(staged)
        case .ours(let file):
            defer { withExtendedLifetime(file) {} }
            try discard(staged)
        }
        return true
    }
}

/// The transfer of a result from a render child into a version. The child writes to a nameless file, and the
/// published file is a copy of it that no child ever had open.
extension Staging {
    /// Creates a nameless file on the disk of staging, for a child to write to.
    public func scratch(for staged: StagedVersion) throws(Failure) -> OpenFile {
        try files.faults?.reach("scratch", folder(of: staged))
        return try .nameless(in: folder(of: staged).string, name: "a result of \(staged.job)")
    }

    /// Copies a result into a staged version as a new file, and computes its digest in the same pass.
    ///
    /// - Parameters:
    ///   - name: its path in the staged folder.
    ///   - bytesMax: the largest length; a longer result is an `ioFailure`.
    /// - Returns: the digest in hex and the length of the copy.
    public func copy(
        _ result: OpenFile, as name: String, into staged: StagedVersion, bytesMax: Int
    ) throws(Failure) -> (hex: String, bytes: Int) {
        let path = folder(of: staged).pushing(FilePath(name))
        try files.faults?.reach("copy", path)
        try files.makeFolder(path.removingLastComponent())
        return try FileCopy.copy(result, toNew: path.string, bytesMax: bytesMax)
    }
}

/// The locks of the staged versions that this process is making, each held while its version is made.
///
/// The kernel releases them when the process dies for any reason. A lock is a separate file and not the staged
/// folder, because a folder is moved to its shelf, and NFS does not lock folders.
final class StagingLocks: Sendable {
    private let open = Mutex<[StagedVersion: OpenFile]>([:])
    /// The most attempts to lock a file, ``pauseMicroseconds`` apart. Only a sweep that is checking the file can
    /// hold it.
    private static let attemptsMax = 200
    private static let pauseMicroseconds: UInt32 = 5_000

    /// Locks a staged version until it is released.
    func acquire(_ staged: StagedVersion, at path: FilePath) throws(Failure) {
        guard open.withLock({ $0[staged] == nil }) else { return }
        for _ in 0..<Self.attemptsMax {
            switch try FileSystem.lock(path, O_RDWR | O_CREAT) {
            case .ours(let file): return open.withLock { $0[staged] = file }
            case .others, .none: usleep(Self.pauseMicroseconds)
            }
        }
        throw Failure(
            .ioFailure,
            "\(path) is locked: another process makes the version \(staged.folderName). The job is retried."
        )
    }

    /// Releases a staged version if this process holds it.
    func release(_ staged: StagedVersion) {
        open.withLock { $0[staged] = nil }
    }
}
