/// The bytes of a scratch folder: downloads in progress, open files, and files that may be removed.
///
/// It decides and does no I/O. Files are named by their SHA-256 in hex.
struct ScratchLedger: Sendable {
    /// The largest total size, in bytes.
    let bytesMax: Int
    private var files: [String: File] = [:]
    private var uses = 0
    /// The bytes of files and of downloads.
    private(set) var bytes = 0

    private struct File {
        let bytes: Int
        /// The number of leases of the file.
        var pins: Int
        /// The sequence number of its last use.
        var use: Int
    }

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Reserves bytes for a download.
    ///
    /// - Returns: the files to remove for it, the least recently used first; nil if there is not enough room,
    ///   because the rest is in use.
    mutating func reserve(_ count: Int) -> [String]? {
        let idle = files.filter { $0.value.pins == 0 }.sorted { $0.value.use < $1.value.use }
        var free = bytesMax - bytes
        var going: [String] = []
        for (name, file) in idle where free < count {
            going.append(name)
            free += file.bytes
        }
        guard free >= count else { return nil }
        for name in going { remove(name) }
        bytes += count
        return going
    }

    /// Removes all files that are not open.
    mutating func evictIdle() -> [String] {
        let going = files.filter { $0.value.pins == 0 }.map(\.key)
        for name in going { remove(name) }
        return going
    }

    /// Releases reserved bytes.
    mutating func release(_ count: Int) { bytes -= count }

    /// Turns a download into a file with one lease.
    ///
    /// - Parameter reserved: the bytes that were reserved for it.
    /// - Returns: whether the file is new. If not, the file existed already and the download is not needed.
    mutating func settle(_ name: String, bytes count: Int, reserved: Int) -> Bool {
        bytes -= reserved
        if pin(name) { return false }
        bytes += count
        uses += 1
        files[name] = File(bytes: count, pins: 1, use: uses)
        return true
    }

    /// Adds a lease to a file. Returns false if there is no such file.
    mutating func pin(_ name: String) -> Bool {
        guard files[name] != nil else { return false }
        uses += 1
        files[name]?.pins += 1
        files[name]?.use = uses
        return true
    }

    /// Releases a lease.
    mutating func unpin(_ name: String) { files[name]?.pins -= 1 }

    /// Removes the entry of a deleted file.
    mutating func remove(_ name: String) {
        guard let file = files.removeValue(forKey: name) else { return }
        bytes -= file.bytes
    }
}
