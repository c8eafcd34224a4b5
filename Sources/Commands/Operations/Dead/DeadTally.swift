import Edits
package import JobQueue

/// The number of dead jobs that match a filter, by code, with a few of them.
package struct DeadTally: Sendable, Encodable {
    package private(set) var count = 0
    /// Whether all jobs were counted; otherwise there are more.
    package private(set) var isComplete = true
    package private(set) var codes: [String: Int] = [:]
    /// The first matching jobs.
    package private(set) var sample: [JobRecord] = []

    /// The maximum number of jobs that are counted one by one: some two seconds.
    package static let countedMax = 50_000
    private static let sampleMax = 5
    private var groupsByName: [String: DeadGroup] = [:]

    /// The causes of death of the counted jobs.
    package var groups: DeadGroups {
        DeadGroups(groups: Array(groupsByName.values), others: nil)
    }

    private enum CodingKeys: CodingKey { case count, isComplete, codes, sample }

    /// Counts the matching jobs one by one.
    package init(_ filter: DeadFilter, on queue: JobQueue) async throws(QueueError) {
        var reader = try await DeadReader(queue, filter)
        var read = 0
        while let page = try await reader.next() {
            for record in page {
                count += 1
                codes[record.code?.rawValue ?? "unknown", default: 0] += 1
                if sample.count < Self.sampleMax { sample.append(record) }
                let group = DeadGroup(of: record)
                groupsByName[group.name] = groupsByName[group.name]?.adding(group) ?? group
            }
            read += DeadReader.pageMax
            if read >= Self.countedMax {
                isComplete = false
                return
            }
        }
    }
}
