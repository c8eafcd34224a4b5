import CMinilab
import Glibc

/// A root folder that holds only ``SystemFiles``, read-only. Names and sizes of other files are invisible.
enum SystemRoot {
    /// The mount point of the new root. Its former content is hidden.
    private static let directory = "/tmp"

    /// Builds the folder and makes it the root. The process must have a mount namespace of its own.
    static func enter() throws(SystemRefusal) {
        try SystemRefusal.check(minilab_keep_mounts_private(), "mount --make-rprivate /")
        try SystemRefusal.check(minilab_mount_empty(directory), "mount tmpfs")
        do throws(SystemRefusal) {
            for path in SystemFiles.readable + SystemFiles.writable { try show(path) }
            try SystemRefusal.check(minilab_make_read_only(directory), "mount_setattr")
            try SystemRefusal.check(minilab_change_root(directory), "pivot_root")
        } catch {
            minilab_unmount(directory)
            throw error
        }
    }

    /// Binds a file or folder of the old root to the same path in the new root.
    private static func show(_ path: String) throws(SystemRefusal) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw SystemRefusal(path)
        }
        let shown = directory + path
        try makeParents(of: shown)
        switch status.st_mode & S_IFMT {
        case S_IFLNK:
            // A symbolic link, such as Debian's /lib: its target is bound too.
            try SystemRefusal.check(symlink(try target(of: path), shown), shown)
        case S_IFDIR:
            // The folder may exist already as the parent of another.
            if mkdir(shown, 0o755) < 0, errno != EEXIST { throw SystemRefusal(shown) }
            try SystemRefusal.check(minilab_bind(path, shown), "mount --bind \(path)")
        default:
            let file = try SystemRefusal.check(
                open(shown, O_WRONLY | O_CREAT | O_CLOEXEC, 0o444), shown)
            close(file)
            try SystemRefusal.check(minilab_bind(path, shown), "mount --bind \(path)")
        }
    }

    private static func makeParents(of path: String) throws(SystemRefusal) {
        for (index, letter) in zip(path.indices, path)
        where letter == "/" && index > path.startIndex {
            if mkdir(String(path[..<index]), 0o755) < 0, errno != EEXIST {
                throw SystemRefusal(path)
            }
        }
    }

    private static func target(of link: String) throws(SystemRefusal) -> String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        if count < 0 { throw SystemRefusal(link) }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
