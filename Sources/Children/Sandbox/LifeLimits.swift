import Glibc
import RenderProtocol

/// The kernel's limits on a child for its whole life. They are hard: what takes the child over cannot raise them again.
package struct LifeLimits: Sendable {
    /// Private memory, in bytes (RLIMIT_DATA); nil: no limit.
    private let dataBytes: Int?
    /// Addresses beyond those that the process has when it enters, in bytes (RLIMIT_AS); nil: no limit.
    ///
    /// Pages that are only read count for no other limit, and their tables take a byte for each 512 addresses that are touched: without this
    /// limit, a child that reads 64 GB of zeros fills a machine with tables.
    private let addressRoom: Int?
    /// The length of a file, in bytes; nil: the limit follows with the first request.
    private let fileBytes: Int?

    /// A stack that grows is no data to the kernel, so it has a limit of its own: the usual one.
    private static let stackBytes: rlim_t = 8 << 20

    package init(dataBytes: Int? = nil, addressRoom: Int? = nil, fileBytes: Int? = nil) {
        (self.dataBytes, self.addressRoom, self.fileBytes) = (dataBytes, addressRoom, fileBytes)
    }

    /// Addresses for maps of sources and spools, stacks and the reserves of allocators of a child that reads photos: tables of 32 MB.
    private static let photoAddressRoom = 16 << 30

    /// The limits of a child that reads photos: the memory that its worker names in the environment, beside what the child has now.
    package static var ofPhotos: LifeLimits {
        let granted = getenv(ChildEnvironment.memoryMax).flatMap { Int(String(cString: $0)) }
        guard let granted, granted > 0 else { return LifeLimits() }
        return LifeLimits(
            dataBytes: (ProcessUsage.dataBytes ?? 0) + granted,
            addressRoom: granted + photoAddressRoom)
    }

    /// Lowers the limits for good.
    func enter() throws(SystemRefusal) {
        try Self.lower(RLIMIT_STACK, to: Self.stackBytes)
        if let dataBytes { try Self.lower(RLIMIT_DATA, to: rlim_t(dataBytes)) }
        if let addressRoom {
            try Self.lower(RLIMIT_AS, to: rlim_t((ProcessUsage.addressBytes ?? 0) + addressRoom))
        }
        if let fileBytes { try Self.lower(RLIMIT_FSIZE, to: rlim_t(fileBytes)) }
    }

    private static func lower(
        _ resource: __rlimit_resource, to most: rlim_t
    ) throws(SystemRefusal) {
        let number = __rlimit_resource_t(resource.rawValue)
        var limit = rlimit()
        try SystemRefusal.check(getrlimit(number, &limit), "getrlimit")
        limit.rlim_cur = min(limit.rlim_cur, most)
        limit.rlim_max = min(limit.rlim_max, most)
        try SystemRefusal.check(setrlimit(number, &limit), "setrlimit")
    }
}
