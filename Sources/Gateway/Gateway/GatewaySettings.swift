package import Webhooks

/// The limits and times of a gateway.
package struct GatewaySettings: Sendable {
    package var address = "127.0.0.1"
    package var port = 8080
    package var statusAddress = "127.0.0.1"
    package var statusPort: Int?
    /// The origin that browsers use, such as `https://photos.example.com`; nil for this machine only, without TLS.
    package var publicOrigin: String?
    package var uploadBytesMax = 4 << 30
    /// The most bytes of originals that a key brings in a day, for keys without a quota of their own: 25,000 photos of 10 MB.
    package var uploadBytesPerDay = 256 << 30
    package var bodyBytesMax = 1 << 20
    /// The most bytes of one body of a batch's members; a client continues with the next one.
    package var membersBytesMax = 256 << 20
    /// The most unfinished jobs of one tenant, for keys without a quota of their own.
    package var backlogMax = 100_000
    /// The most bytes of Redis that one tenant's jobs and batches take, for keys without a quota of their own; nil for
    /// `ServerMemory.tenantPercent`.
    package var storedBytesMax: Int?
    /// The most requests a second of one key, for keys without a quota of their own. A body counts as one for each 4 KB.
    package var requestsPerSecond = 200
    /// The most event streams that are open at the same time.
    package var streamsMax = 2_400
    /// Address ranges outside the public Internet that webhooks may reach.
    package var webhooksAllowed: [AddressRange] = []
    /// Sign-in with an identity provider; nil to sign in with keys only.
    package var providerSignIn: ProviderSignInSettings?
    /// The time after a signal for which calls may end by themselves; then they are broken off. Its service manager kills a gateway
    /// after 30 s.
    package var endTime: Duration = .seconds(20)
    /// The longest wait that `Prefer: wait` can request.
    package var waitMax: Duration = .seconds(30)

    package init() {}
}
