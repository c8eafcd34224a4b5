import Files
import Glibc
import RenderProtocol
import SystemPackage

/// The threads and files that a child holds although no render needs them, as the kernel reports them. A photo has taken over a
/// child that holds such a thing, and the child is ended.
enum ChildExcess {
    /// Returns a sentence if a child has more threads than any render has.
    static func threads(of pid: pid_t) -> String? {
        guard let count = ProcessStatus("\(pid)")?.count("Threads"), count > Confinement.threadsMax
        else { return nil }
        return "it has \(count) threads; a render has at most \(Confinement.threadsMax)"
    }

    /// Returns a sentence if a child that has answered a request still has one of its files open. Such a file takes
    /// room on the disk, and can grow, as long as the child lives.
    static func files(of pid: pid_t, among files: [OpenFile]) -> String? {
        let handed = Set(files.compactMap { FileIdentity($0.descriptor) })
        let kept = descriptors(of: pid).compactMap(FileIdentity.init).count { handed.contains($0) }
        return kept == 0 ? nil : "it kept \(kept) of the files of a request that it has answered"
    }

    /// Returns the links to the open files of a process; none if the kernel does not show them.
    private static func descriptors(of pid: pid_t) -> [String] {
        let folder = FilePath("/proc/\(pid)/fd")
        do {
            return try FileSystem().list(folder).map { folder.appending($0).string }
        } catch {
            return []
        }
    }
}

/// A file, whatever its names and descriptors.
private struct FileIdentity: Hashable {
    let device: UInt
    let inode: UInt

    /// The file of a descriptor of this process.
    init?(_ descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The file at the end of a link.
    init?(_ link: String) {
        var status = stat()
        guard stat(link, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        (device, inode) = (UInt(status.st_dev), UInt(status.st_ino))
    }
}
