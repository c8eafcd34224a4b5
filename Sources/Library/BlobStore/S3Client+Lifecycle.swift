import NIOHTTP1

extension S3Client {
    /// Returns the bucket's lifecycle rules; none if it has no document of rules.
    public func lifecycle() async throws(BlobError) -> BucketLifecycle {
        do throws(BlobError) {
            return try await exchange {
                S3Request(
                    method: .GET, key: nil, query: [("lifecycle", "")],
                    right: "s3:GetLifecycleConfiguration")
            } _: { response throws(AttemptFailure) in
                BucketLifecycle(
                    try await Self.document(response, named: "LifecycleConfiguration"))
            }
        } catch {
            guard error.storeCode == "NoSuchLifecycleConfiguration" else { throw error }
            return BucketLifecycle()
        }
    }

    /// Returns whether the bucket keeps old versions of objects that are replaced or removed.
    public func keepsVersions() async throws(BlobError) -> Bool {
        try await exchange {
            S3Request(
                method: .GET, key: nil, query: [("versioning", "")],
                right: "s3:GetBucketVersioning")
        } _: { response throws(AttemptFailure) in
            try await Self.document(response, named: "VersioningConfiguration")
                .text(of: "Status") == "Enabled"
        }
    }
}
