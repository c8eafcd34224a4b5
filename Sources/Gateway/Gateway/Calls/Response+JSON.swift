import Edits
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
    /// Returns a response with a JSON document.
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) throws -> Response {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var fields = headers
        fields[.contentType] = "application/json"
        if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
        return Response(
            status: status, headers: fields,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try encoder.encode(value))))
    }

    /// Returns a response with a value that is JSON already.
    static func json(
        _ value: JSONValue, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) -> Response {
        var fields = headers
        fields[.contentType] = "application/json"
        if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
        return Response(
            status: status, headers: fields,
            body: ResponseBody(byteBuffer: ByteBuffer(string: value.canonical)))
    }
}
