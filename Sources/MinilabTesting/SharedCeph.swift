import Foundation

/// One Ceph object gateway for all tests of the process, with the bucket `photos`, as ``SharedSeaweed`` is.
public enum SharedCeph {
    private static let started = Started {
        guard let program = CephServer.program else {
            throw TestingFailure("there is no radosgw: ops/setup radosgw")
        }
        let server = try await CephServer.start(program)
        try makeBucket(at: "\(server.endpoint)/\(SharedSeaweed.bucket)")
        return server
    }

    /// The server, started with the first call.
    public static func server() async throws -> CephServer { try await started.value() }

    /// Gives the user of ``StoreKeys/limited`` the rights of one policy, and takes all others from it.
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
        // A user who is not the owner of a bucket may do what its policy says, and nothing else.
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
