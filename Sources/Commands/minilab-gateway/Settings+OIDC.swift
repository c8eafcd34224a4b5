import Dashboard
import Gateway
import Commands

/// The settings of sign-in with an identity provider.
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
