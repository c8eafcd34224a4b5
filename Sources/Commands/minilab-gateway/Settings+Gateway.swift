import Commands
import Dashboard
import Gateway
import Webhooks

extension Settings {
    private static let defaults = GatewaySettings()

    static let gatewayAddress = Setting(
        "gateway.address", flag: "address", .text("an address of this machine"),
        default: defaults.address,
        "\(defaults.address), this machine alone", help: "The address that it listens on")
    static let gatewayPort = Setting(
        "gateway.port", flag: "port", .number(0...65535), default: defaults.port,
        help: "The port; 0 is any free one")
    static let gatewayOrigin = Setting(
        "gateway.origin", flag: "origin",
        ValueSyntax("an origin such as https://photos.example.com", placeholder: "url") { text in
            text.wholeMatch(of: /https?:\/\/([a-z0-9.\-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?/) == nil
                ? nil : text
        },
        help:
            "The origin that browsers use, such as https://photos.example.com, behind a proxy with TLS"
    )
    static let gatewayStatusPort = Setting(
        "gateway.status.port", flag: "status-port", .number(0...65535), default: nil,
        "none is opened",
        help: "The port of /metrics, /healthz and /readyz; 0 is any free one")
    static let gatewayStatusAddress = Setting(
        "gateway.status.address", flag: "status-address", .text("an address of this machine"),
        default: defaults.statusAddress, "\(defaults.statusAddress), this machine alone",
        help: "The address of the status port")
    static let gatewayUploadMax = Setting(
        "gateway.upload.max", flag: "upload-max", .bytes(1 << 20...1 << 40),
        default: defaults.uploadBytesMax,
        help: "Maximum size of one uploaded original, in bytes")
    static let gatewayUploadDay = Setting(
        "gateway.upload.day", flag: "upload-day", .bytes(1 << 20...1 << 50),
        default: defaults.uploadBytesPerDay,
        help:
            "Bytes of originals that one key uploads in a day (UTC), unless the key sets another limit"
    )
    static let gatewayBacklog = Setting(
        "gateway.backlog", flag: "backlog", .number(1...10_000_000), default: defaults.backlogMax,
        help: "Jobs of one tenant that have not ended, unless its key sets another limit")
    static let gatewayStored = Setting(
        "gateway.stored", flag: "stored", .bytes(1 << 20...1 << 50), default: nil,
        "a tenth of Redis' maxmemory; no limit without one",
        help:
            "Bytes of Redis that one tenant's jobs and batches take, unless its key sets another limit"
    )
    static let gatewayRate = Setting(
        "gateway.rate", flag: "rate", .number(1...1_000_000), default: defaults.requestsPerSecond,
        help:
            "Requests per second of one key, unless the key sets another limit; a body counts as one for each 4 KB"
    )
    static let gatewayWebhooksAllow = Setting(
        "gateway.webhooks.allow", flag: "webhooks-allow",
        ValueSyntax("ranges of addresses such as 10.1.0.0/16,fd00:1::/32", placeholder: "ranges") {
            try $0.split(separator: ",", omittingEmptySubsequences: false)
                .map { try AddressRange(String($0)) }
        }, default: defaults.webhooksAllowed, "none",
        help:
            "Ranges of your own network that webhooks may go to, such as 10.1.0.0/16,fd00:1::/32")
}

extension Settings {
    static let oidcIssuer = Setting(
        "gateway.oidc.issuer", flag: "oidc-issuer", .text("https://…", placeholder: "url"),
        default: nil, "with keys alone",
        help:
            "An OpenID Connect provider for signing in to the dashboard. Needs --origin")
    static let oidcClientID = Setting(
        "gateway.oidc.client.id", flag: "oidc-client-id", .text("a name", placeholder: "id"),
        help:
            "The name of this gateway at the provider; its redirect URI there is ORIGIN/signin/oidc/callback"
    )
    static let oidcClientSecretFile = Setting(
        "gateway.oidc.client.secret.file", flag: "oidc-client-secret-file",
        .text("the path of a file", placeholder: "path"),
        default: nil,
        "oidc-client-secret of systemd's credentials, if it is there; a public client has none",
        help: "A file with the client's secret alone")
    static let oidcRoles = Setting(
        "gateway.oidc.roles", flag: "oidc-role",
        ValueSyntax("GROUP=KEY,GROUP=KEY", placeholder: "group=key") { try SignInRoles($0) },
        help:
            "A person in this group acts with this key, by its id. The first that fits counts")
    static let oidcClaim = Setting(
        "gateway.oidc.claim", flag: "oidc-claim", .text("a name", placeholder: "claim"),
        default: ProviderSettings.claimUsual,
        help: "The claim of the ID token that lists a person's groups")
    static let oidcName = Setting(
        "gateway.oidc.name", flag: "oidc-name", .text("a name", placeholder: "text"),
        default: ProviderSignInSettings.nameUsual,
        help: "The provider's name on the button")
}
