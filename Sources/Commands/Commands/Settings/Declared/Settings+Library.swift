import BlobStore
import FoundationEssentials
import JobQueue
import SystemPackage
import Telemetry

/// The settings of a library's location.
extension Settings {
    package static let library = address(
        "library", of: "library",
        help: "The library: a folder (originals, edits, staging), or s3://bucket/prefix?endpoint=…")
    package static let originals = address(
        "originals", of: "originals", usual: "LIBRARY/originals",
        help: "The folder or URL of the originals")

    private static func address(
        _ key: String, of thing: String, usual: String? = nil, help: String
    ) -> Setting<LibraryAddress> {
        Setting(
            key,
            ValueSyntax("the folder of the \(thing), or s3://bucket/prefix?endpoint=…&region=…") {
                text in
                if text.hasPrefix("s3://") { return .bucket(try BlobURL(text)) }
                return text.isEmpty ? nil : .folder(FilePath(text))
            }, default: nil, usual, help: help)
    }
}

/// The settings of a library in a bucket.
extension Settings {
    // The default is on a disk, because `/tmp` is in memory on many machines.
    package static let scratch = Setting(
        "scratch", .text("a folder of this machine, for a library in a bucket"),
        default: "/var/tmp/minilab",
        help: "With a library in a bucket: the folder of this machine for downloads and results")
    package static let scratchSize = Setting(
        "scratch.size", .bytes(64 << 20...64 << 40), default: 8 << 30,
        help: "Maximum size of the downloads kept in the scratch folder, in bytes")
    static let s3Profile = Setting(
        "s3.profile", .text("a profile of the AWS credentials file"),
        help: "The profile of the AWS credentials file; without one, the environment's")
    static let s3CAFile = Setting(
        "s3.ca.file", .text("a PEM file of the authorities to trust"),
        help: "PEM file of the authorities to trust with https")
    static let s3Encryption = Setting<BucketEncryption>(
        "s3.encryption", .choice, default: .bucket,
        help:
            "How the store encrypts: by the bucket's setting, with the store's key, or with a key of KMS"
    )
    static let s3KMSKey = Setting(
        "s3.kms.key", .text("the id of a KMS key"),
        help: "The key of KMS; without one, the bucket's")
    static let s3StorageClass = Setting(
        "s3.storage.class", .text("a storage class such as STANDARD_IA"),
        help: "The storage class of new objects; without one, the bucket's")
    static let s3BucketOwner = Setting(
        "s3.bucket.owner",
        ValueSyntax("the number of an account, 12 digits") { text in
            let isNumber =
                text.utf8.count == 12
                && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            return isNumber ? text : nil
        }, help: "The account that must own the bucket")
    static let s3RequesterPays = Setting(
        "s3.requester.pays", .truth, default: false,
        help: "Whether requests are paid by this account")
}

/// The encryption of the objects of a bucket, by the party that manages the keys.
enum BucketEncryption: String, CaseIterable, Sendable {
    case bucket, store, kms
}

/// The settings of traces, of workers and gateways alike.
extension Settings {
    package static let tracesEndpoint = Setting(
        "traces.endpoint",
        ValueSyntax<String>(
            "the URL of a collector such as http://127.0.0.1:4318, without login and query",
            placeholder: "url"
        ) { TraceSettings.url(ofBase: $0) },
        default: nil,
        "that of OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT, or none",
        help: "A collector of OpenTelemetry that gets traces over HTTP in JSON")
    package static let tracesFile = Setting(
        "traces.file", .text("the path of a file", placeholder: "path"), default: nil, "none",
        help: "A file that gets traces as lines of JSON")
    package static let tracesSample = Setting(
        "traces.sample",
        ValueSyntax<Double>("a number from 0 to 1", placeholder: "share") { text in
            Double(text).flatMap { (0...1).contains($0) ? $0 : nil }
        }, default: 1, "1",
        help: "The share of jobs and requests that are traced, of those whose sender does not say")
}
