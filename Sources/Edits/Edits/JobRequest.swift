/// The request of a producer: one edit of one asset.
public struct JobRequest: Sendable, Equatable {
    /// The producer's own id, or nil to use the id of the entry in the ingress stream.
    public let id: JobID?
    /// The photo.
    public let asset: AssetPath
    public let edit: Edit
    /// The values of the asset for placeholders.
    public let fields: AssetFields?
    /// The time constraints and the tenant.
    public let scheduling: Scheduling

    public init(
        id: JobID? = nil, asset: AssetPath, edit: Edit, fields: AssetFields? = nil,
        scheduling: Scheduling = Scheduling()
    ) {
        self.id = id
        self.asset = asset
        self.edit = edit
        self.fields = fields
        self.scheduling = scheduling
    }

    /// SHA-256 of asset, recipe and fields in hex: equal for requests of the same work.
    public var digest: String {
        var parts: [String: JSONValue] = ["asset": .string(asset.string), "edit": edit.json]
        parts["fields"] = fields.map { .string($0.json) }
        return JSONValue.object(parts).digest
    }

    /// Reads one line of a manifest: `{"asset": …, "edit": {…}, "id": …}` (`jobs/job.schema.json`).
    ///
    /// - Throws: the first error in it.
    public init(json text: String) throws(Failure) {
        guard text.utf8.count <= ContractLimits.jobBytesMax else {
            throw Failure(
                .oversizedField,
                "job has \(text.utf8.count) bytes; at most \(ContractLimits.jobBytesMax) "
                    + "are allowed.")
        }
        let reader = try JSONObjectReader(
            JSONValue(parsing: text, as: "job"), at: "job",
            known: ["asset", "edit", "fields", "id"] + Scheduling.names)
        var id: JobID?
        if reader.optional("id") != nil { id = try JobID(ofJob: reader.string("id")) }
        self.init(
            id: id, asset: try AssetPath(reader.string("asset")),
            edit: try Edit(reader.value("edit")),
            fields: try reader.optional("fields").map { value throws(Failure) in
                try AssetFields(value, at: "job.fields")
            }, scheduling: try Scheduling(reader))
    }
}

/// The urgency of a job. More urgent jobs go first, but each priority has a guaranteed share.
public enum Priority: String, Sendable, Codable, CaseIterable {
    /// A user is waiting for it.
    case interactive
    /// The default for single jobs.
    case normal
    /// Large volumes without urgency. The default for batches.
    case bulk
}

/// The time constraints and the tenant of a job. All fields are optional.
public struct Scheduling: Sendable, Equatable {
    /// The tenant that submitted the job, for fairness between tenants; nil means `default`.
    public var tenant: JobID?
    /// The urgency; nil means `normal`, and `bulk` for batches.
    public var priority: Priority?
    /// The likely cost, in milliseconds of one slot; nil lets the queue learn it.
    public var cost: Int?
    /// The earliest start; RFC 3339 in UTC.
    public var notBefore: String?
    /// The latest start. A job that is not started by then fails with `deadlinePassed`. RFC 3339 in UTC.
    public var deadline: String?
    /// The older jobs of the same asset that this job replaces; nil means none.
    public var replace: Replacement?
    /// The trace that it is a part of; nil lets its worker begin one.
    public var traceparent: Traceparent?

    /// The older jobs of the same asset that a job replaces.
    public enum Replacement: String, Sendable, CaseIterable {
        /// Jobs that no worker has started.
        case waiting
        /// Those, and the job that is being rendered.
        case running
    }

    public init() {}

    /// The fields by name, as in an entry of the ingress stream.
    public var fields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        func add(_ name: String, _ value: String?) {
            if let value { fields.append((name: name, value: value)) }
        }
        add("tenant", tenant?.string)
        add("priority", priority?.rawValue)
        add("cost", cost.map { "\($0)" })
        add("notBefore", notBefore)
        add("deadline", deadline)
        add("replace", replace?.rawValue)
        add("traceparent", traceparent?.description)
        return fields
    }
}

extension Scheduling {
    /// The names of its fields in a line of a manifest and in an entry of the ingress stream.
    static let names = [
        "tenant", "priority", "cost", "notBefore", "deadline", "replace", "traceparent",
    ]

    /// Reads the fields that are present.
    ///
    /// - Throws: the first error in them.
    init(_ reader: JSONObjectReader) throws(Failure) {
        if let name = try reader.text("tenant") { tenant = try JobID(name) }
        priority = try reader.choice("priority")
        cost = try reader.integer("cost", in: 1...ContractLimits.costMax)
        if let text = try reader.text("notBefore") {
            notBefore = try Self.time(text, of: "notBefore")
        }
        if let text = try reader.text("deadline") {
            deadline = try Self.time(text, of: "deadline")
        }
        replace = try reader.choice("replace")
        traceparent = try reader.text("traceparent").flatMap { Traceparent($0) }
    }

    /// Checks a UTC time in the format of RFC 3339.
    ///
    /// - Throws: `invalidValue`.
    public static func time(_ text: String, of name: String) throws(Failure) -> String {
        // Not \d, which matches the digits of every script.
        let day = /[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])/
        let time = /T([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\.[0-9]{1,9})?Z/
        let parts = text.firstIndex(of: "T").map { (text[..<$0], text[$0...]) }
        guard let (first, second) = parts, first.wholeMatch(of: day) != nil,
            second.wholeMatch(of: time) != nil
        else {
            throw Failure(
                .invalidValue,
                "\(name) \(String(text.prefix(80)).debugDescription) is not a time in UTC like "
                    + "2026-11-21T06:00:00Z.")
        }
        return text
    }
}
