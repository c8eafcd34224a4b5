import AccessKeys
import JobQueue
import Logging
import Redis

/// The settings of sign-in with an identity provider.
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
    /// The calls of the provider that browsers cause with the codes that they bring, by the addresses of these browsers. A call takes
    /// 0.1 s, 10 s if the provider is slow. A flood from other addresses delays a person, and refuses nobody.
    let calls = FairTurns(.init(all: 32), waiting: .init(all: 512))

    init(
        _ settings: ProviderSignInSettings, redis: RedisClient, queue: QueueName, logger: Logger
    ) {
        self.settings = settings
        provider = IdentityProvider(settings.provider, logger: logger)
        used = UsedSignIns(redis: redis, queue: queue)
    }
}
