package import AccessKeys
package import JobQueue
package import Library
package import Logging
package import Redis

/// What routes work with.
package struct GatewayParts: Sendable {
    package let queue: JobQueue
    package let redis: RedisClient
    package let library: any LibraryStore
    package let keys: KeyRing
    package let keyStore: KeyStore
    package let hub: EventHub
    package let settings: GatewaySettings
    package let logger: Logger

    package init(
        queue: JobQueue, redis: RedisClient, library: any LibraryStore, keys: KeyRing,
        keyStore: KeyStore, hub: EventHub, settings: GatewaySettings, logger: Logger
    ) {
        self.queue = queue
        self.redis = redis
        self.library = library
        self.keys = keys
        self.keyStore = keyStore
        self.hub = hub
        self.settings = settings
        self.logger = logger
    }
}
