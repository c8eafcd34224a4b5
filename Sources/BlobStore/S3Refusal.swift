import NIOHTTP1

/// A store's answer that is not the one hoped for. Source: Amazon S3 API reference, "Error responses".
struct S3Refusal: Error, Sendable, Hashable {
    /// The most characters of a store's own sentence that we pass on.
    static let messageMax = 300

    let status: Int
    /// The store's code; nil where the answer had no body, as to HEAD.
    var code: String?
    var message: String?
    /// The region that the bucket is in, where the answer tells.
    var region: String?
    /// The server's clock.
    var date: BlobTime?
    var requestID: String?

    init(status: Int) {
        self.status = status
    }

    /// Reads an answer; a body that is no S3 error, such as a proxy's page, only has its status.
    init(status: Int, headers: HTTPHeaders, body: [UInt8]) {
        self.status = status
        region = headers.first(name: "x-amz-bucket-region")
        date = headers.first(name: "date").flatMap { BlobTime(httpDate: $0) }
        requestID = headers.first(name: "x-amz-request-id")
        do {
            read(try XMLNode(document: body))
        } catch {
            // Gateways answer in HTML or with nothing; the status says enough then.
        }
    }

    /// Reads the `<Error>` that stands in an answer of status 200.
    init(status: Int, document: XMLNode) {
        self.status = status
        read(document)
    }

    private mutating func read(_ document: XMLNode) {
        // STS has an <Error> in an <ErrorResponse>.
        let error = document.name == "Error" ? document : document["Error"]
        guard let error else { return }
        code = error.text(of: "Code")
        message = error.text(of: "Message").map { String($0.prefix(Self.messageMax)) }
        region = region ?? error.text(of: "Region")
        requestID = requestID ?? error.text(of: "RequestId")
    }

    /// The answer in words: status, code, the store's sentence, the request's number.
    var words: String {
        let said = [code, message].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ": ")
        let number = requestID.map { " (request \($0.prefix(80)))" } ?? ""
        return "\(status)" + (said.isEmpty ? "" : " \(said)") + number
    }
}
