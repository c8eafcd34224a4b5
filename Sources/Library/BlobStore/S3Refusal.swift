import NIOHTTP1

/// An error answer of a store. Source: Amazon S3 API reference, "Error responses".
struct S3Refusal: Error, Sendable, Hashable {
    /// The most characters of a store's own message that are passed on.
    static let messageMax = 300

    let status: Int
    /// The store's code; nil if the answer had no body, as for HEAD.
    var code: String?
    var message: String?
    /// The region of the bucket, if the answer states it.
    var region: String?
    /// The time by the server's clock.
    var date: BlobTime?
    var requestID: String?

    init(status: Int) {
        self.status = status
    }

    /// Parses an answer. If the body is not an S3 error, such as a proxy's page, only the status
    /// is used.
    init(status: Int, headers: HTTPHeaders, body: [UInt8]) {
        self.status = status
        region = headers.first(name: "x-amz-bucket-region")
        date = headers.first(name: "date").flatMap { BlobTime(httpDate: $0) }
        requestID = headers.first(name: "x-amz-request-id")
        do {
            read(try XMLNode(document: body))
        } catch {
            // Gateways answer with HTML or without a body; the status suffices then.
        }
    }

    /// Parses the `<Error>` in an answer with status 200.
    init(status: Int, document: XMLNode) {
        self.status = status
        read(document)
    }

    private mutating func read(_ document: XMLNode) {
        // STS encloses <Error> in <ErrorResponse>.
        let error = document.name == "Error" ? document : document["Error"]
        guard let error else { return }
        code = error.text(of: "Code")
        message = error.text(of: "Message").map { String($0.prefix(Self.messageMax)) }
        region = region ?? error.text(of: "Region")
        requestID = requestID ?? error.text(of: "RequestId")
    }

    /// The answer for messages: status, code, the store's message, the request's number.
    var sentence: String {
        let reason = [code, message].compactMap { $0 }.filter { !$0.isEmpty }.joined(
            separator: ": ")
        let number = requestID.map { " (request \($0.prefix(80)))" } ?? ""
        return "\(status)" + (reason.isEmpty ? "" : " \(reason)") + number
    }
}
