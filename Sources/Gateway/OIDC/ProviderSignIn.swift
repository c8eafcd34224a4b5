import AccessKeys
import JobQueue
import Logging
package import OpenIDConnect
import Redis

/// The settings of signing in with an identity provider.
package struct ProviderSignInSettings: Sendable {
    /// The provider, and this gateway as its client.
    package let provider: ProviderSettings
    /// The keys that people act with.
    package let roles: SignInRoles
    /// The provider's name for people.
    package let name: String

    /// The name for people when nobody says one.
    package static let nameUsual = "your organisation"

    package init(provider: ProviderSettings, roles: SignInRoles, name: String = nameUsual) {
        self.provider = provider
        self.roles = roles
        self.name = name
    }
}

/// The parts that sign people in with an identity provider.
struct ProviderSignIn: Sendable {
    let settings: ProviderSignInSettings
    let provider: IdentityProvider
    let attempts: SignInAttempts
    /// One of its own: links to the provider can be followed by anybody, and must not hold up keys.
    let limit = SignInLimit()

    init(
        _ settings: ProviderSignInSettings, redis: RedisClient, queue: QueueName, logger: Logger
    ) {
        self.settings = settings
        provider = IdentityProvider(settings.provider, logger: logger)
        attempts = SignInAttempts(redis: redis, queue: queue)
    }
}
