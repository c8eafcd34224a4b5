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

    /// Creates a value with no field set.
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
