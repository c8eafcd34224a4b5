package import Webhooks

/// The limits and times of a gateway.
package struct GatewaySettings: Sendable {
    /// The address that it listens on.
    package var address = "127.0.0.1"
    /// The port; 0 for any that is free.
    package var port = 8080
    /// The address of the status port.
    package var statusAddress = "127.0.0.1"
    /// The status port; 0 for any that is free, nil for none.
    package var statusPort: Int?
    /// The origin that browsers use, such as `https://photos.example.com`; nil for this machine alone, without TLS.
    package var publicOrigin: String?
    /// Most bytes of an original that is sent.
    package var uploadBytesMax = 4 << 30
    /// Most bytes of a body of JSON.
    package var bodyBytesMax = 1 << 20
    /// Jobs of one tenant that have not ended, for keys without a quota of their own.
    package var backlogMax = 100_000
    /// Requests a second of one key, for keys without a quota of their own.
    package var requestsPerSecond = 200
    /// Streams of events that are open at the same time.
    package var streamsMax = 2000
    /// Ranges of addresses beside the Internet's that webhooks may go to.
    package var webhooksAllowed: [AddressRange] = []
    /// Sign-in with an identity provider; nil for keys alone.
    package var providerSignIn: ProviderSignInSettings?
    /// Longest time that `Prefer: wait` waits.
    package var waitMax: Duration = .seconds(30)

    package init() {}
}
