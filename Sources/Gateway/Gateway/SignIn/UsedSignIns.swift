import AccessKeys
package import Edits
package import JobQueue
import Logging
package import Redis

/// The sign-ins that have returned from the provider, for all gateways, so that each of them counts once.
///
/// Each one is a string `minilab-gateway:{queue}:signin:<digest of the state>`, which expires. A zset of the digests, scored by expiry, bounds
/// their number. If others return so often that a mark is removed early, the provider still takes a code once.
package struct UsedSignIns: Sendable {
    /// The most marks, about 2 MB. A further one removes the oldest.
    package static let marksMax = 10_000
    /// The most expired or surplus marks that a new one removes.
    private static let sweptAtOnce = 100

    private let redis: RedisClient
    private let queue: QueueName
    private let marksMax: Int

    package init(redis: RedisClient, queue: QueueName, marksMax: Int = marksMax) {
        self.redis = redis
        self.queue = queue
        self.marksMax = marksMax
    }

    /// Marks a sign-in as used.
    ///
    /// - Returns: false if it was used before.
    func use(_ state: String) async throws -> Bool {
        let digest = SHA256.hash(data: state.utf8).hex
        let keys = queue.gatewayKeys
        do {
            return try await redis.run(
                Self.script, keys: [keys.signIns, keys.signIn(digest)],
                arguments: [
                    RedisArgument(digest),
                    RedisArgument(Int(BegunSignIn.duration / .milliseconds(1))),
                    RedisArgument(marksMax), RedisArgument(keys.signIn("")),
                    RedisArgument(Self.sweptAtOnce),
                ]
            ).int == 1
        } catch {
            throw Problem(
                .queueUnavailable, "Sign-in is not possible now; try again.",
                retryAfter: Problem.retrySeconds)
        }
    }

    /// It also runs while Redis is full, as the beginning of a session does: an operator signs in to free it.
    private static let script = RedisScript(
        name: "signin-use",
        source: """
            #!lua flags=allow-oom
            -- KEYS   zset of digests by their end, string of the mark
            -- ARGV   digest, how long (ms), most marks, prefix of the strings' names, most swept
            -- Returns 1, or 0 if the sign-in was used before
            -- Crash  The string expires alone; a digest without one is swept by a later call.
            local call = redis.call
            if call('EXISTS', KEYS[2]) == 1 then return 0 end
            local t = call('TIME')
            local now = t[1] * 1000 + math.floor(t[2] / 1000)
            local most = tonumber(ARGV[3])
            for _ = 1, tonumber(ARGV[5]) do
              local first = call('ZRANGE', KEYS[1], '0', '0', 'WITHSCORES')
              if not first[1] then break end
              if tonumber(first[2]) > now and call('ZCARD', KEYS[1]) < most then break end
              call('ZPOPMIN', KEYS[1])
              call('UNLINK', ARGV[4] .. first[1])
            end
            call('ZADD', KEYS[1], string.format('%d', now + tonumber(ARGV[2])), ARGV[1])
            call('SET', KEYS[2], '1', 'PX', ARGV[2])
            return 1
            """)
}

package struct ProviderSignInSettings: Sendable {
    /// The provider, and this gateway's registration as its client.
    package let provider: ProviderSettings
    /// The keys that people act with, by their roles.
    package let roles: SignInRoles
    /// The provider's name that pages show.
    package let name: String

    /// The default of ``name``.
    package static let nameUsual = "your organisation"

    package init(provider: ProviderSettings, roles: SignInRoles, name: String = nameUsual) {
        self.provider = provider
        self.roles = roles
        self.name = name
    }
}

/// The parts of sign-in with an identity provider.
struct ProviderSignIn: Sendable {
    let settings: ProviderSignInSettings
    let provider: IdentityProvider
    let used: UsedSignIns
    /// The calls of the provider that browsers cause with the codes that they bring, by the addresses of these browsers, and at one address
    /// by their cookies: behind a proxy, all have one. A call takes 0.1 s, 10 s if the provider is slow. A flood refuses nobody, because all
    /// connections may wait. It delays a person by one turn of each browser at the person's address; a stranger has as many browsers there
    /// as cookies that it was given, each of which costs a call more.
    let calls = FairTurns(
        .init(all: 64), waiting: .init(all: 2 * BorderLimits().connectionsMax + 1))

    init(
        _ settings: ProviderSignInSettings, redis: RedisClient, queue: QueueName, logger: Logger
    ) {
        self.settings = settings
        provider = IdentityProvider(settings.provider, logger: logger)
        used = UsedSignIns(redis: redis, queue: queue)
    }
}

/// The keys that people act with, by their claims at the provider: pairs of a value of the claim and the id of a key.
///
/// The key defines scopes, tenant, prefix, quotas and expiry, so a person's rights change and expire like a client's.
package struct SignInRoles: Sendable, Equatable {
    package struct Role: Sendable, Equatable {
        /// A value of the claim, such as the name of a group.
        package let group: String
        package let keyID: String
    }

    package let roles: [Role]

    static let rolesMax = 200

    /// Parses `photo-ops=7kq2m9xw4bnc,lab=…`.
    ///
    /// A group may contain commas and equals signs, as directory names do, so a pair ends where the id of a key ends.
    ///
    /// - Throws: `invalidValue`.
    package init(_ text: String) throws(Failure) {
        var roles: [Role] = []
        var begun: String?
        for piece in text.split(separator: ",", omittingEmptySubsequences: false) {
            let pair = begun.map { $0 + "," + piece } ?? String(piece)
            begun = pair
            guard let sign = pair.lastIndex(of: "="), sign > pair.startIndex else { continue }
            let keyID = String(pair[pair.index(after: sign)...])
            guard KeyText.isID(keyID) else { continue }
            roles.append(Role(group: String(pair[..<sign]), keyID: keyID))
            begun = nil
        }
        guard begun == nil, roles.count <= Self.rolesMax else {
            throw Failure(
                .invalidValue,
                "\(String((begun ?? text).prefix(200)).debugDescription.printable) is no role; expected GROUP=KEY with the "
                    + "id of a key as minilab key list shows it, \(Self.rolesMax) of them at most.")
        }
        self.roles = roles
    }

    /// Returns the first role that matches one of the groups.
    func role(of groups: [String]) -> Role? {
        roles.first { role in
            groups.contains { $0.utf8.elementsEqual(role.group.utf8) }
        }
    }
}
