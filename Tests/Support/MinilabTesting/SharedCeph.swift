import Foundation

/// One Ceph object gateway with the bucket `photos` for all tests of the process, like ``SharedSeaweed``.
public enum SharedCeph {
    private static let started = Started {
        guard let program = CephServer.program else {
            throw TestingFailure("there is no radosgw: ops/setup radosgw")
        }
        let server = try await CephServer.start(program)
        try makeBucket(at: "\(server.endpoint)/\(SharedSeaweed.bucket)")
        return server
    }

    /// Returns the server; the first call starts it.
    public static func server() async throws -> CephServer { try await started.value() }

    /// Grants the user of ``StoreKeys/limited`` the rights of one policy, and revokes all others.
    public static func limit(to policy: String) async throws {
        let server = try await server()
        let text = policy.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        try StoreKeys.admin.curl(
            "POST", "\(server.endpoint)/",
            "Action=PutUserPolicy&PolicyDocument=\(text)&PolicyName=minilab"
                + "&UserName=\(StoreKeys.limited.name)")
    }

    private static func makeBucket(at url: String) throws {
        try StoreKeys.admin.curl("PUT", url)
        // A user who does not own a bucket has only the rights of its policy.
        let bucket = "arn:aws:s3:::\(SharedSeaweed.bucket)"
        try StoreKeys.admin.curl(
            "PUT", url + "?policy=",
            """
            {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject", "s3:ListBucket"],
              "Principal": {"AWS": ["arn:aws:iam:::user/\(StoreKeys.reader.name)"]},
              "Resource": ["\(bucket)", "\(bucket)/*"]}]}
            """)
    }
}
