import Adjustments
import ArgumentParser
import Dashboard
import Gateway
import MinilabCommands
import OpenIDConnect

/// The flags that say how people sign in with an identity provider. Each is also a setting.
struct OIDCOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An OpenID Connect provider where people sign in to the dashboard (default: with keys alone). Needs --origin.",
            valueName: "url"))
    var oidcIssuer: String?

    @Option(
        help: ArgumentHelp(
            "The name of this gateway at the provider; its redirect URI there is ORIGIN/signin/oidc/callback.",
            valueName: "id"))
    var oidcClientID: String?

    @Option(
        help: ArgumentHelp(
            "A file with the client's secret alone (default: oidc-client-secret of systemd's credentials, if it is there; a "
                + "public client has none).", valueName: "path"))
    var oidcClientSecretFile: String?

    @Option(
        help: ArgumentHelp(
            "Who is in this group acts with this key, by its id. Give it several times: the first that fits counts.",
            valueName: "group=key"))
    var oidcRole: [String] = []

    @Option(
        help: ArgumentHelp(
            "The claim of the ID token that lists a person's groups (default: groups).",
            valueName: "claim"))
    var oidcClaim: String?

    @Option(
        help: ArgumentHelp(
            "The provider's name on the button (default: your organisation).", valueName: "text"))
    var oidcName: String?

    /// The flags that were given, by key of the setting.
    var flags: [String: String?] {
        [
            "gateway.oidc.issuer": oidcIssuer, "gateway.oidc.client.id": oidcClientID,
            "gateway.oidc.client.secret.file": oidcClientSecretFile,
            "gateway.oidc.roles": oidcRole.isEmpty ? nil : oidcRole.joined(separator: ","),
            "gateway.oidc.claim": oidcClaim, "gateway.oidc.name": oidcName,
        ]
    }
}

extension ProviderSignInSettings {
    /// Reads the settings of an identity provider; nil when there is none.
    ///
    /// - Parameter origin: the one that browsers use.
    init?(_ reader: inout SettingsReader, origin: String?) {
        let issuer = reader.optional(.text("gateway.oidc.issuer", "https://…"))
        let client = reader.optional(.text("gateway.oidc.client.id", "a name"))
        let secret = reader.secret(.oidcClientSecret, "gateway.oidc.client.secret.file")
        let claim = reader.value(
            .text("gateway.oidc.claim", "a name", default: ProviderSettings.claimUsual),
            or: ProviderSettings.claimUsual)
        let name = reader.value(
            .text("gateway.oidc.name", "a name", default: Self.nameUsual), or: Self.nameUsual)
        let roles = reader.optional(
            Setting(
                key: "gateway.oidc.roles", expected: "GROUP=KEY,GROUP=KEY", defaultText: nil,
                parse: { try SignInRoles($0) }))
        guard let issuer else {
            if client != nil || roles != nil {
                reader.refuse(
                    "gateway.oidc.client.id or .roles is set and gateway.oidc.issuer is not: give --oidc-issuer URL"
                )
            }
            return nil
        }
        guard let origin else {
            reader.refuse(
                "gateway.oidc.issuer is set and gateway.origin is not: the provider has to send browsers back; give "
                    + "--origin https://…, the address that they use")
            return nil
        }
        guard let client, let roles else {
            reader.refuse(
                "gateway.oidc.issuer is set and gateway.oidc.\(client == nil ? "client.id" : "roles") is not, or is wrong: "
                    + "give \(client == nil ? "--oidc-client-id ID" : "--oidc-role GROUP=KEY")")
            return nil
        }
        do throws(OIDCError) {
            self.init(
                provider: try ProviderSettings(
                    issuer: issuer, clientID: client, clientSecret: secret,
                    redirectURI: origin + Links.providerReturn, claim: claim),
                roles: roles, name: name)
        } catch {
            reader.refuse("gateway.oidc: \(error.message)")
            return nil
        }
    }
}
