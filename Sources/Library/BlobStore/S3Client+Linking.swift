extension S3Client {
    /// Returns a URL from which any client may read the object for that time.
    public func link(
        _ key: BlobKey, for time: Duration
    ) async throws(BlobError) -> BlobLink {
        try check(key)
        let asked = Int(time.components.seconds)
        guard asked >= 1, time <= BlobLink.timeMax else {
            throw BlobError(
                .invalid,
                "A link to \(location.name(key)) for \(time) cannot be signed: 1 s to 7 days can.")
        }
        let now = now
        let keys = try await credentials.current(at: now)
        let seconds = min(asked, keys.expires.map { max(1, $0.seconds - now.seconds) } ?? asked)
        let location = location
        let request = SignableRequest(
            method: "GET", path: location.path(key), headers: [("host", location.authority)],
            payload: SignableRequest.unsignedPayload)
        let query = SigV4(credentials: keys, region: location.region)
            .presignedQuery(for: request, at: now, seconds: seconds)
        return BlobLink(
            url: "\(location.scheme)://\(location.authority)\(request.path)?\(query)",
            expires: BlobTime(seconds: now.seconds + seconds))
    }
}
