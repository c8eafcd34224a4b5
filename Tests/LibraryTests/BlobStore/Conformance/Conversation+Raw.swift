import MinilabTesting
import ServiceTesting

@testable import BlobStore

extension Conversation {
    /// Sends a request that is not the client's.
    func send(_ request: RawRequest) async throws -> Seen {
        let text = request.text(
            at: TestStoreLocation(bucket: store.bucket, prefix: store.prefix, port: store.port),
            known)
        let answer = try await HTTPExchange.send(
            text, port: store.port, ending: request.sent != nil)
        for name in request.remembers { known[name] = answer.value(of: name) }
        return answer.seen(showing: request.shows)
    }

    /// Reads what a signed URL leads to.
    func follow(_ link: StoreCase.Link, to key: String) async throws -> Seen {
        let location = S3Location(try BlobURL(store.url))
        let request = SignableRequest(
            method: "GET", path: location.path(try BlobKey(key)),
            headers: [("host", location.authority)], payload: SignableRequest.unsignedPayload)
        let keys = StoreKeys.admin
        let query = SigV4(
            credentials: Credentials(accessKey: keys.accessKey, secretKey: keys.secretKey),
            region: location.region
        ).presignedQuery(
            for: request, at: BlobTime(seconds: ClientRuntime.real.now().seconds - link.age),
            seconds: link.seconds)
        let url = "\(request.path)?\(query)"
        let changed =
            link.change.from.isEmpty ? url : url.replacing(link.change.from, with: link.change.to)
        let answer = try await HTTPExchange.send(
            "\(link.method) \(changed) HTTP/1.0\r\nHost: \(location.authority)\r\ncontent-length: 0\r\n\r\n",
            port: store.port)
        return answer.status == 200 ? .text(answer.body) : answer.seen(showing: [])
    }
}

extension HTTPExchange.Answer {
    /// The value of a header, or of the first element of that name.
    func value(of name: String) -> String? {
        let head = text.prefix(text.count - body.count)
        for line in head.split(separator: "\r\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2, parts[0].lowercased() == name {
                return String(parts[1].trimmingPrefix(" ")).replacing("\"", with: "")
            }
        }
        guard let start = body.firstRange(of: "<\(name)>"),
            let end = body[start.upperBound...].firstRange(of: "</\(name)>")
        else { return nil }
        return String(body[start.upperBound..<end.lowerBound])
    }

    /// Status and code, or status and some headers.
    func seen(showing headers: [String]) -> StoreCase.Seen {
        guard let status else { return .answer(0) }
        if body.contains("<Error>"), let code = value(of: "Code") { return .refusal(status, code) }
        return .answer(status, headers.map { value(of: $0) ?? "" })
    }
}
