/// The jobs, batches, events and other objects that a caller may see and change: those of a tenant, below a folder of assets.
///
/// This is the one definition of "mine". An object is within reach only if its name, its tenant and its asset or folder all are.
/// Sets of objects (filters, replays, views of events, lists, counts) are made with a reach and compare each object with it.
public struct Reach: Sendable, Hashable, Codable {
    /// The tenant; nil for all tenants. A tenant's jobs and batches are stored as `<tenant>.<id>`, so that tenants cannot block
    /// or probe each other's names.
    public let tenant: String?
    /// The folder of the assets, ending in `/`; empty for all.
    public let folder: String

    /// All objects of a queue: the reach of an operator.
    public static let everything = Reach(tenant: nil, folder: "")

    /// - Parameter folder: A folder of the library, with or without `/` at its end; empty for all assets.
    public init(tenant: String?, folder: String) {
        self.tenant = tenant
        self.folder =
            folder.isEmpty || folder.utf8.last == UInt8(ascii: "/") ? folder : folder + "/"
    }

    /// Whether it has no limit, so that it also includes objects of the queue itself.
    public var isEverything: Bool { tenant == nil && folder.isEmpty }

    /// Returns whether the asset or file is in the folder. Bytes are compared, as in the file system.
    public func covers(asset: String) -> Bool { asset.utf8.starts(with: folder.utf8) }

    /// Returns whether a tenant's objects may be within reach.
    public func covers(tenant other: String) -> Bool {
        tenant.map { $0.utf8.elementsEqual(other.utf8) } ?? true
    }

    /// Returns whether a stored id of a job, a batch or a batch's member has the form of the tenant's own ids.
    public func covers(name: String) -> Bool { ownPart(of: name) != nil }

    /// Returns a stored id in the form in which its tenant uses it; nil if it does not have the form of the tenant's own ids.
    public func ownPart(of name: String) -> String? {
        guard let tenant else { return name }
        let prefix = "\(tenant)."
        guard name.utf8.starts(with: prefix.utf8), name.utf8.count > prefix.utf8.count else {
            return nil
        }
        return String(decoding: name.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }

    /// Returns whether a job is within reach.
    ///
    /// The name alone does not suffice: a trusted producer may have named another tenant's job `acme.1`.
    ///
    /// - Parameter asset: The job's asset; nil if it is not known, which only a reach of all assets includes.
    public func covers(job: String, tenant: String, asset: String?) -> Bool {
        covers(name: job) && covers(tenant: tenant)
            && (asset.map { covers(asset: $0) } ?? folder.isEmpty)
    }

    /// Returns whether a batch is within reach.
    ///
    /// - Parameter folder: The folder of the key that opened it; nil for a batch that no key opened. Such a batch is its
    ///   tenant's as a whole, so it lies in the folder with the tenant's name.
    public func covers(batch: String, tenant: String, folder: String?) -> Bool {
        covers(name: batch) && covers(tenant: tenant)
            && covers(asset: folder ?? "\(tenant)/")
    }

    /// Returns whether all objects within another reach are within this one, too: a replay, an endpoint, or another client's order.
    public func covers(_ other: Reach) -> Bool {
        (tenant == nil || other.tenant.map { covers(tenant: $0) } ?? false)
            && covers(asset: other.folder)
    }

    /// Returns whether an event is within reach. Only a reach of everything includes the events of streams.
    public func covers(_ event: JobEvent) -> Bool {
        if isEverything { return true }
        if let job = event.job {
            // A member without an asset is within reach of those who may see its batch.
            if event.subject == nil, let batch = JobEvent.batch(ofMember: job) {
                return covers(batch: batch, tenant: event.owner(tenant), folder: event.folder)
            }
            return covers(job: job, tenant: event.owner(tenant), asset: event.subject)
        }
        guard let batch = event.batch else { return false }
        return covers(batch: batch, tenant: event.owner(tenant), folder: event.folder)
    }
}

extension JobEvent {
    /// The id of the event's job; nil for an event of a batch or a stream.
    public var job: String? {
        switch data {
        case .completed(let data), .drafted(let data): data.job
        case .rendered(let data): data.job
        case .unchanged(let data): data.job
        case .superseded(let data): data.job
        case .previewed(let data): data.job
        case .progressed(let data): data.job
        case .failed(let data): data.job
        case .retried(let data): data.job
        case .conflict(let data): data.job
        case .stuck(let data): data.job
        case .cancelled(let data): data.job
        case .batchCompleted, .batchConflict, .batchSealed, .streamHarmed: nil
        }
    }

    /// The name of the event's batch; nil for an event of a job or a stream.
    public var batch: String? {
        switch data {
        case .batchCompleted(let data): data.batch
        case .batchConflict(let data): data.batch
        case .batchSealed(let data): data.batch
        default: nil
        }
    }

    /// Returns the name of the batch in a member's id, `<batch>:<number>`; nil for another id.
    fileprivate static func batch(ofMember id: String) -> String? {
        guard let colon = id.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let number = id.utf8[colon...].dropFirst()
        guard !number.isEmpty, number.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return String(id[..<colon])
    }

    /// The tenant of the event's job or batch. Earlier releases did not write it: then the name and the folder decide alone.
    fileprivate func owner(_ reader: String?) -> String { tenant ?? reader ?? "" }
}

/// The owner of a photo. A render child, a render or a private resource of one owner serves no other.
///
/// There is no empty owner and no default one, so each place that lends a child, names a render or reads a resource
/// says whose photo it is about.
public enum Owner: Sendable, Hashable {
    case `operator`
    case tenant(JobID)
    /// The photo itself, by a name that no other photo has. For photos of tenants that are not known, such as those
    /// that a gateway shows or `minilab verify` renders again.
    case photo(String)
}
