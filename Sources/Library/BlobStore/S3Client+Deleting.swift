import Edits
import NIOHTTP1

extension S3Client {
    /// The most keys of one request. Source: Amazon S3, DeleteObjects.
    static let deletesMax = 1_000

    /// Removes objects, up to a thousand per request.
    ///
    /// - Returns: The objects that still exist, each with the reason.
    public func delete(
        _ keys: [BlobKey]
    ) async throws(BlobError) -> [BlobKey: BlobError] {
        var left: [BlobKey: BlobError] = [:]
        for start in stride(from: 0, to: keys.count, by: Self.deletesMax) {
            let some = Array(keys[start..<min(start + Self.deletesMax, keys.count)])
            left.merge(try await deleteSome(some)) { $1 }
        }
        return left
    }

    private func deleteSome(
        _ keys: [BlobKey]
    ) async throws(BlobError) -> [BlobKey: BlobError] {
        let location = location
        let objects = keys.map {
            "<Object><Key>\(XMLText.escaped(location.fullKey($0.text)))</Key></Object>"
        }
        let body = Array("<Delete><Quiet>true</Quiet>\(objects.joined())</Delete>".utf8)
        // S3 requires a digest of this body, and older stores support only MD5.
        let md5 = Base64.encoded(MD5.hash(data: body))
        return try await exchange {
            S3Request(
                method: .POST, key: nil, query: [("delete", "")],
                headers: [("content-md5", md5), ("content-type", "application/xml")],
                body: .bytes(body), right: "s3:DeleteObject")
        } _: { response throws(AttemptFailure) in
            let result = try await Self.document(response, named: "DeleteResult")
            var left: [BlobKey: BlobError] = [:]
            for node in result.children where node.name == "Error" {
                guard let key = node.text(of: "Key").flatMap(location.key(ofListed:)) else {
                    throw .senseless("an error about no key")
                }
                left[key] = Self.refusedDelete(node, of: location.name(key))
            }
            // A missing key was removed by another client.
            return left.filter { $0.value.code != .notFound }
        }
    }

    private static func refusedDelete(_ node: XMLNode, of name: String) -> BlobError {
        let code = node.text(of: "Code") ?? ""
        let message = node.text(of: "Message")?.prefix(S3Refusal.messageMax) ?? ""
        let kind: BlobError.Code =
            switch code {
            case "AccessDenied": .denied
            case "NoSuchKey": .notFound
            default: .unavailable
            }
        return BlobError(
            kind,
            "\(name) was not removed: the store answered \(code): \(message). "
                + (kind == .denied
                    ? "The policy needs s3:DeleteObject, and no lock may hold the object."
                    : "Try again later."),
            storeCode: code)
    }
}

/// Text in XML elements.
enum XMLText {
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
