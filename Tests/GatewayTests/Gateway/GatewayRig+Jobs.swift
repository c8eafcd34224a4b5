import Edits
import Foundation
import JobQueue
import Testing

extension GatewayRig {
    static let sepia = #"{"filters":[{"name":"CISepiaTone","inputIntensity":0.8}]}"#

    /// Sends a job over HTTP.
    @discardableResult
    func post(_ id: String, _ asset: String, key: String) async throws -> Answer {
        try await send(
            "POST", "/v1/jobs", key: key,
            json: #"{"id":"\#(id)","asset":"\#(asset)","edit":\#(Self.sepia)}"#)
    }

    /// Has so many jobs end as a worker would that rendered them.
    func complete(_ count: Int) async throws {
        var left = count
        while left > 0 {
            _ = try await queue.admit()
            let claims = try await queue.claim(by: "w", count: min(5, left)).jobs
            try #require(!claims.isEmpty)
            for claim in claims {
                let event = JobEvent.Completion(
                    mode: .replace,
                    version: .init(id: "1-\(claim.fence)", revision: 1, at: .init(path: "p")),
                    render: nil, filters: [])
                _ = try await queue.commit(claim, event, isDraft: false)
                _ = try await queue.finalize(job: claim.job, fence: claim.fence)
                left -= 1
            }
        }
    }

    /// Has jobs die as a worker would that finds no original.
    func kill(_ jobs: [(id: String, asset: String)], key: String) async throws {
        for (id, asset) in jobs {
            let answer = try await post(id, asset, key: key)
            try #require(answer.status == 202, "\(answer.text)")
        }
        _ = try await queue.admit()
        var left = jobs.count
        while left > 0 {
            let claims = try await queue.claim(by: "w", count: 5).jobs
            try #require(!claims.isEmpty)
            for claim in claims {
                _ = try await queue.fail(
                    claim, by: "w", Failure(.missingAsset, "no file /srv/photos/\(claim.asset)"),
                    random: 0)
                left -= 1
            }
        }
    }
}
