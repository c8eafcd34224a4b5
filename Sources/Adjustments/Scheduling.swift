/// When and for whom a job is done. All of it may be left out.
public struct Scheduling: Sendable, Equatable {
    /// Who asked, for fairness between those who ask; nil means `default`.
    public var tenant: JobID?
    /// How urgent it is; nil means `normal`, and for batches `bulk`.
    public var priority: Priority?
    /// What it is likely to cost, in milliseconds of one slot; nil lets the queue learn it.
    public var cost: Int?
    /// Not begun before; RFC 3339 in UTC.
    public var notBefore: String?
    /// Not begun after: then the job dies as `deadlinePassed`. RFC 3339 in UTC.
    public var deadline: String?
    /// Which older jobs of the same asset it takes the place of; nil means none.
    public var replace: Replacement?
    /// The trace that it is a part of; nil lets its worker begin one.
    public var traceparent: Traceparent?

    /// Older jobs of the same asset that are not wanted any more.
    public enum Replacement: String, Sendable, CaseIterable {
        /// Those that no worker has begun.
        case waiting
        /// Those, and the one that is being rendered.
        case running
    }

    /// Nothing said.
    public init() {}

    /// The fields of it, by name, as an entry of the ingress stream has them.
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
