import AccessKeys
import Edits

extension Schemas {
    static var keys: [String: JSONValue] {
        [
            "Key": .fields(
                terms.merging(
                    [
                        "id": .text(1...64, pattern: "^[A-Za-z0-9]+$"), "createdAt": .moment,
                        "revokedAt": .moment,
                    ]) { own, _ in own },
                required: [
                    "id", "createdAt", "label", "assetPrefix", "scopes", "quotas", "corsOrigins",
                ], isClosed: true),
            "KeyTerms": .fields(
                terms.mapValues { .orNull($0) }.merging(
                    [
                        "assetPrefix": .schema("AssetPrefix"), "scopes": scopes,
                    ]) { _, own in own }, required: ["assetPrefix", "scopes"], isClosed: true),
            "AssetPrefix": .any(
                .text(0...0),
                .object([
                    "allOf": .array([
                        .text(2...ContractLimits.assetBytesMax, pattern: "[^/]/$"),
                        .object([
                            "not": .object(["pattern": .string("(^|/)[.]{0,2}/|[^/]{256}")])
                        ]),
                    ])
                ])),
        ]
    }

    private static let scopes = JSONValue.object([
        "type": .string("array"), "minItems": .number(1),
        "items": .choice(Scope.allCases.map(\.rawValue)),
    ])

    private static let terms: [String: JSONValue] = [
        "label": .text(0...KeyTerms.labelBytesMax, pattern: "^[^\u{0}-\u{1F}\u{7F}-\u{9F}]*$"),
        "tenant": .text(
            1...ContractLimits.jobIDLengthMax, pattern: "^[A-Za-z0-9][A-Za-z0-9_-]*$"),
        "assetPrefix": .schema("AssetPrefix"), "scopes": scopes,
        "quotas": .fields(
            [
                "backlogMax?": .orNull(.integer(1...KeyQuotas.countMax)),
                "requestsPerSecond?": .orNull(.integer(1...KeyQuotas.countMax)),
                "requestBurst?": .orNull(.integer(1...KeyQuotas.countMax)),
                "uploadBytesPerDay?": .orNull(.integer(1...KeyQuotas.bytesMax)),
                "storedBytesMax?": .orNull(.integer(1...KeyQuotas.bytesMax)),
            ], isClosed: true),
        "corsOrigins": .list(
            .text(
                8...KeyTerms.originBytesMax,
                pattern: #"^https?://([a-z0-9.-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$"#),
            max: KeyTerms.originsMax),
        "expiresAt": .integer(1...KeyTerms.expiresAtMax),
    ]
}
