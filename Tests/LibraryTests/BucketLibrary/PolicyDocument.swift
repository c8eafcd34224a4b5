import Foundation
import MinilabTesting
import ServiceTesting

/// One of the policies in `ops/deploy/iam`.
struct PolicyDocument: Codable {
    struct Rule: Codable {
        let Effect: String
        let Action: String
        var Resource: [String]
        let Condition: [String: [String: String]]?
    }

    let Version: String
    var Statement: [Rule]

    /// An action on a resource: what can be taken away.
    struct Line: Hashable {
        let action: String
        let resource: String
    }

    init(_ name: String) throws {
        self = try JSONDecoder().decode(
            PolicyDocument.self,
            from: Data(
                contentsOf: Repository.root.appending(path: "ops/deploy/iam/\(name).json")))
    }

    var lines: [Line] {
        Statement.flatMap { statement in
            statement.Resource.map { Line(action: statement.Action, resource: $0) }
        }
    }

    func without(_ line: Line) -> PolicyDocument {
        var other = self
        other.Statement = Statement.compactMap { statement in
            guard statement.Action == line.action else { return statement }
            var statement = statement
            statement.Resource.removeAll { $0 == line.resource }
            return statement.Resource.isEmpty ? nil : statement
        }
        return other
    }

    /// The document with what Ceph 16 wants besides: to remove several objects at once, the right on the bucket, too.
    var forCeph: PolicyDocument {
        var other = self
        for number in Statement.indices where Statement[number].Action == "s3:DeleteObject" {
            other.Statement[number].Resource.append("arn:aws:s3:::BUCKET")
        }
        return other
    }

    /// The document as a store reads it, for one location.
    func text(at store: TestStore) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return String(decoding: try encoder.encode(self), as: UTF8.self)
            .replacing("BUCKET", with: store.bucket).replacing("PREFIX", with: store.prefix)
    }
}
