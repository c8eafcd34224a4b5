package import AccessKeys
import NIOCore

/// The permits of calls that hold something for long. Each pool has a share for each tenant, and a reserve for operators.
package struct CallPermits: Sendable {
    /// Streams of events and of pages.
    package let streams: SharedPermits
    /// Uploads of originals. Each holds an open file, some 1 MB of memory and up to 64 MB of the disk that it has not filled yet, so
    /// all of them hold 16 GB at most. A client that sends more than 16 at a time gains nothing.
    package let uploads = SharedPermits(.init(all: 256, reserve: 16), ofKeyMax: 16)
    /// Bodies of members. Each holds some 400 KB of unread bytes, and its lines are parsed in turns.
    package let memberBodies = SharedPermits(.init(all: 64, reserve: 8), ofKeyMax: 4)
    /// Other bodies above 64 KB, which are read whole: up to 1 MB each. Smaller ones are bounded by the connections.
    package let wholeBodies = SharedPermits(.init(all: 64, reserve: 8), ofKeyMax: 16)
    /// Messages to webhooks that clients request; each holds a connection for up to 15 s.
    package let trials = SharedPermits(.init(all: 32, reserve: 4), ofKeyMax: 4)
    /// Calls that cost far more than their answers: those that read a whole original, all versions of an asset, or all dead jobs of
    /// the queue. Without shares, one key would keep Redis and every thread for file calls busy.
    let costlyCalls = SharedPermits(.init(all: 20, reserve: 4, ofTenantMax: 4))

    /// Turns at what keeps a core busy for some ms: reading many entries of the queue for one answer (pages of events, also those for
    /// webhooks, and lists of batches and of dead jobs), and parsing a part of a body of members. Each waits behind those of its own
    /// tenant, operators come first, and half of the cores stay free for other calls.
    let readings = FairTurns(
        .init(all: max(1, System.coreCount / 2)), waiting: .init(all: 8_192, reserve: 512))
    /// Turns at digesting and writing a part of an original, alike. They are taken on threads for blocking calls, of which there are as
    /// many as cores: the others stay free for other files.
    let writings = FairTurns(
        .init(all: max(1, System.coreCount / 2)), waiting: .init(all: 8_192, reserve: 512))

    /// Turns at reading all versions of an asset, each of which may be a file, or a whole original: a thousand versions take some 40 ms,
    /// and 4 GB some 10 s. A tenant has half of the threads for blocking calls for them, so that the other half opens files.
    let walks = FairTurns(
        .init(all: 64, reserve: 8, ofTenantMax: max(1, System.coreCount / 2)),
        waiting: .init(all: 8_192, reserve: 512))

    /// - Parameter streamsMax: The most open streams; a tenth of them is for operators.
    init(streamsMax: Int) {
        streams = SharedPermits(.init(all: streamsMax, reserve: streamsMax / 10))
    }

    /// Runs a read of many entries in its caller's turn. A read within a read would wait for itself.
    ///
    /// - Throws: `tooManyRequests` if too many wait; the error of `body`.
    func reading<Result>(
        of key: AccessKey, _ body: () async throws -> Result
    ) async throws -> Result {
        try await turn(readings, of: key, "read events or lists", body)
    }

    /// Runs a walk through the versions of an asset, or through an original, in its caller's turn. A walk within a walk would wait for itself.
    ///
    /// - Throws: `tooManyRequests` if too many wait; the error of `body`.
    func walking<Result>(
        of key: AccessKey, _ body: () async throws -> Result
    ) async throws -> Result {
        try await turn(walks, of: key, "read histories or whole originals", body)
    }

    private func turn<Result>(
        _ turns: FairTurns, of key: AccessKey, _ deed: String,
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await turns.withTurn(of: key.owner, body)
        } catch is FairTurns.Full {
            throw Problem(
                .tooManyRequests,
                "Too many calls that \(deed) wait already. Ask again when some have been answered.",
                retryAfter: 1)
        }
    }

    /// - Throws: `tooManyStreams`.
    func stream(of key: AccessKey) throws(Problem) -> SharedPermits.Permit {
        try permit(
            streams, of: key, .tooManyStreams, retryAfter: 10,
            "Too many streams are open: of \(streams.limits.all), a tenant has at most as many as are free. Share one among "
                + "readers.")
    }

    /// - Throws: `tooManyUploads`.
    func upload(of key: AccessKey) throws(Problem) -> SharedPermits.Permit {
        try permit(
            uploads, of: key, .tooManyUploads, retryAfter: 5,
            Self.tooMany("originals", uploads))
    }

    /// - Throws: `tooManyUploads`.
    func members(of key: AccessKey) throws(Problem) -> SharedPermits.Permit {
        try permit(
            memberBodies, of: key, .tooManyUploads, retryAfter: 2,
            Self.tooMany("bodies of members", memberBodies))
    }

    /// - Throws: `tooManyRequests`.
    func wholeBody(of key: AccessKey) throws(Problem) -> SharedPermits.Permit {
        try permit(
            wholeBodies, of: key, .tooManyRequests, retryAfter: 1,
            Self.tooMany("large bodies", wholeBodies))
    }

    /// - Throws: `tooManyTrials`.
    func trial(of key: AccessKey) throws(Problem) -> SharedPermits.Permit {
        try permit(
            trials, of: key, .tooManyTrials, retryAfter: 5,
            "Too many messages are tried: at most \(trials.ofKeyMax) at a time for a key, and of \(trials.limits.all) a "
                + "tenant has at most as many as are free. Ask again when one has ended.")
    }

    /// Runs a costly call while it holds a permit.
    ///
    /// - Throws: `tooManyRequests`; the error of `body`.
    func costly<Result>(
        of key: AccessKey, _ body: () async throws -> Result
    ) async throws -> Result {
        let permit = try permit(
            costlyCalls, of: key, .tooManyRequests, retryAfter: 1,
            "Too many calls that read whole originals or all dead jobs are in progress: at most \(costlyCalls.limits.ofTenantMax) at "
                + "a time for a tenant, of \(costlyCalls.limits.all) for all. Ask again when one has ended."
        )
        defer { permit.close() }
        return try await body()
    }

    private static func tooMany(_ subject: String, _ permits: SharedPermits) -> String {
        "Too many \(subject) are sent at a time: at most \(permits.ofKeyMax) with a key, and of \(permits.limits.all) a tenant has "
            + "at most as many as are free. Send this one when one has ended."
    }

    private func permit(
        _ permits: SharedPermits, of key: AccessKey, _ code: ProblemCode, retryAfter: Int,
        _ sentence: @autoclosure () -> String
    ) throws(Problem) -> SharedPermits.Permit {
        guard let permit = permits.take(for: key) else {
            throw Problem(code, sentence(), retryAfter: retryAfter)
        }
        return permit
    }
}
