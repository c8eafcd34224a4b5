import Edits
import ArgumentParser
import Dashboard
import Gateway
import Commands

/// The flags that configure sign-in with an identity provider. Each is a setting.
struct OIDCOptions: ParsableArguments {
    @Option(Settings.oidcIssuer) var oidcIssuer: FlagValue?
    @Option(Settings.oidcClientID) var oidcClientID: FlagValue?
    @Option(Settings.oidcClientSecretFile) var oidcClientSecretFile: FlagValue?
    @Option(
        name: .customLong(Settings.oidcRoles.flag),
        help: ArgumentHelp(
            "\(Settings.oidcRoles.help). May be given several times.",
            valueName: Settings.oidcRoles.syntax.placeholder))
    var oidcRole: [String] = []
    @Option(Settings.oidcClaim) var oidcClaim: FlagValue?
    @Option(Settings.oidcName) var oidcName: FlagValue?

    /// The settings that the flags set.
    var flagValues: [FlagValue] {
        FlagValue.all(in: self)
            + (oidcRole.isEmpty
                ? [] : [FlagValue(Settings.oidcRoles, oidcRole.joined(separator: ","))])
    }
}

extension ProviderSignInSettings {
    /// Reads the settings of an identity provider; returns nil if there is none.
    ///
    /// - Parameter origin: the origin that browsers use.
    init?(_ reader: inout SettingsReader, origin: String?) {
        let issuer = reader.optional(Settings.oidcIssuer)
        let client = reader.optional(Settings.oidcClientID)
        let secret = reader.secret(.oidcClientSecret, Settings.oidcClientSecretFile)
        let claim = reader.value(Settings.oidcClaim)
        let name = reader.value(Settings.oidcName)
        let roles = reader.optional(Settings.oidcRoles)
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
                "gateway.oidc.issuer is set and gateway.origin is not: the provider must redirect browsers back; give "
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
