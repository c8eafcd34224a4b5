/// The bytes of a scratch folder: downloads that are under way, files that are open, files that may go.
///
/// It decides and does no I/O. Files are named by their SHA-256 in hex.
struct ScratchLedger: Sendable {
    /// The most bytes.
    let bytesMax: Int
    private var files: [String: File] = [:]
    private var uses = 0
    /// The bytes of files and of downloads.
    private(set) var bytes = 0

    private struct File {
        let bytes: Int
        /// How many leases it has.
        var pins: Int
        /// When it was used last, counted in uses.
        var use: Int
    }

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Takes bytes for a download.
    ///
    /// - Returns: the files that go for it, the least recently used first; nil when there is not enough room, because
    ///   the rest is in use.
    mutating func admit(_ count: Int) -> [String]? {
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

    /// Lets all files go that nobody has open.
    mutating func evictIdle() -> [String] {
        let going = files.filter { $0.value.pins == 0 }.map(\.key)
        for name in going { remove(name) }
        return going
    }

    /// Gives bytes of a download back.
    mutating func release(_ count: Int) { bytes -= count }

    /// Makes a download a file, with one lease.
    ///
    /// - Parameter admitted: the bytes that were taken for it.
    /// - Returns: whether the file is new; else it was there already, and the download is not needed.
    mutating func settle(_ name: String, bytes count: Int, admitted: Int) -> Bool {
        bytes -= admitted
        if pin(name) { return false }
        bytes += count
        uses += 1
        files[name] = File(bytes: count, pins: 1, use: uses)
        return true
    }

    /// Takes a lease of a file; false when it is not there.
    mutating func pin(_ name: String) -> Bool {
        guard files[name] != nil else { return false }
        uses += 1
        files[name]?.pins += 1
        files[name]?.use = uses
        return true
    }

    /// Gives a lease back.
    mutating func unpin(_ name: String) { files[name]?.pins -= 1 }

    /// Forgets a file that is gone.
    mutating func remove(_ name: String) {
        guard let file = files.removeValue(forKey: name) else { return }
        bytes -= file.bytes
    }
}
