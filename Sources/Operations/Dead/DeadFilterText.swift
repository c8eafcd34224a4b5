package import Edits
package import FoundationEssentials
package import JobQueue

/// A filter of dead jobs in the texts of a request; several conditions match the jobs to which all apply.
package struct DeadFilterText: Sendable {
    package var batch: String?
    package var tenant: String?
    /// The failure codes, such as `renderCrashed`.
    package var codes: [String] = []
    /// A time, such as `2026-11-21T06:00:00Z`, or a duration before now: `30m`, `2h`, `3d`.
    package var since: String?
    package var until: String?
    /// The SHA-256 of the edit's canonical JSON, in hex.
    package var edit: String?

    package init() {}

    package var isGiven: Bool {
        [batch, tenant, since, until, edit].contains { $0 != nil } || !codes.isEmpty
    }

    /// Whether a time is a duration before now.
    package var isRelative: Bool {
        [since, until].contains { $0.flatMap { Duration(written: $0) } != nil }
    }

    /// The longest permitted duration before now.
    private static let agoMax: Duration = .seconds(36500 * 86400)

    /// Returns the filter of the jobs within a caller's reach.
    ///
    /// - Parameters:
    ///   - reach: The jobs that the caller may see.
    ///   - now: The time from which a duration counts.
    ///   - name: Returns the name of a condition in the request, for errors, such as `--since`.
    /// - Throws: `invalidValue`.
    package func filter(
        _ reach: Reach, now: Date, name: (String) -> String
    ) throws(Failure) -> DeadFilter {
        var filter = DeadFilter(reach)
        if let batch { filter.batch = try BatchID(batch) }
        if let tenant { filter.tenant = try JobID(tenant) }
        for text in codes {
            guard let code = FailureCode(rawValue: text) else {
                throw Failure(
                    .invalidValue,
                    "\(name("code")) \(text.debugDescription) is not a code; known: "
                        + FailureCode.allCases.map(\.rawValue).joined(separator: ", ") + ".")
            }
            filter.codes.insert(code)
        }
        if let since { filter.since = try Self.time(since, of: name("since"), now) }
        if let until { filter.until = try Self.time(until, of: name("until"), now) }
        if let edit {
            guard Self.isDigest(edit) else {
                throw Failure(
                    .invalidValue,
                    "\(name("edit")) is \(String(edit.prefix(80)).debugDescription); expected a SHA-256 in 64 "
                        + "hexadecimal digits.")
            }
            filter.edit = edit
        }
        return filter
    }

    /// Returns whether a text is a SHA-256 in lower-case hex.
    package static func isDigest(_ text: String) -> Bool {
        text.utf8.count == 64
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Decodes a time in either form: RFC 3339 in UTC, or a duration before now.
    ///
    /// - Parameter name: The name of the text in the request, for errors.
    /// - Returns: The time in ms since 1970.
    /// - Throws: `invalidValue`.
    package static func time(
        _ text: String, of name: String, _ now: Date
    ) throws(Failure) -> Int {
        if let ago = Duration(written: text) {
            guard ago <= agoMax else {
                throw Failure(.invalidValue, "\(name) \(text) is more than a century ago.")
            }
            return Int(now.timeIntervalSince1970 * 1000) - Int(ago / .milliseconds(1))
        }
        let checked = try Scheduling.time(text, of: name)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: checked.contains("."))
        do {
            return Int(try Date(checked, strategy: style).timeIntervalSince1970 * 1000)
        } catch {
            throw Failure(
                .invalidValue, "\(name) \(text.debugDescription) is no day of the calendar.")
        }
    }
}

/// The number of dead jobs that match a filter, by code, with a few of them.
package struct DeadTally: Sendable, Encodable {
    package private(set) var count = 0
    /// Whether all jobs were counted; otherwise there are more.
    package private(set) var isComplete = true
    package private(set) var codes: [String: Int] = [:]
    package private(set) var sample: [JobRecord] = []

    /// The maximum number of jobs that are counted one by one: some two seconds.
    package static let countedMax = 50_000
    private static let sampleMax = 5
    private var groupsByName: [String: DeadGroup] = [:]
    /// The number of jobs that were inspected, with those that do not match.
    private var read = 0

    /// The causes of death of the counted jobs.
    package var groups: DeadGroups {
        DeadGroups(groups: Array(groupsByName.values), others: nil)
    }

    private enum CodingKeys: CodingKey { case count, isComplete, codes, sample }

    /// Counts the matching jobs one by one.
    package init(_ filter: DeadFilter, on queue: JobQueue) async throws(QueueError) {
        var reader = try await DeadReader(queue, filter)
        while isComplete, let page = try await reader.next() { add(page) }
    }

    /// Starts a count of no jobs.
    package init() {}

    /// Counts the matching jobs of a page of ``DeadReader/pageMax``. Further ones are counted while ``isComplete`` holds.
    package mutating func add(_ page: [JobRecord]) {
        for record in page {
            count += 1
            codes[record.code?.rawValue ?? "unknown", default: 0] += 1
            if sample.count < Self.sampleMax { sample.append(record) }
            let group = DeadGroup(of: record)
            groupsByName[group.name] = groupsByName[group.name]?.adding(group) ?? group
        }
        read += DeadReader.pageMax
        if read >= Self.countedMax { isComplete = false }
    }
}
