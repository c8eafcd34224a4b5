import Edits
import Foundation
import MinilabTesting
@testable import Gateway
import Testing

@Suite("settings of sign-in with a provider") struct ProviderSettingsTests {
    @Test func `a group may have commas and equals signs, a pair ends with the id of a key`() throws
    {
        let (one, two) = ("7kq2m9xw4bnc", "p03h6tzr8vdy")
        let roles = try SignInRoles("photo-ops=\(one),cn=lab,ou=photo,dc=example=\(two)")
        #expect(
            roles.roles.map { [$0.group, $0.keyID] }
                == [["photo-ops", one], ["cn=lab,ou=photo,dc=example", two]])
        #expect(roles.role(of: ["x", "cn=lab,ou=photo,dc=example"])?.keyID == two)
        #expect(roles.role(of: ["Photo-ops", "photo-op", ""]) == nil)
        // A name that is another sequence of the same characters is another name.
        #expect(try SignInRoles("caf\u{E9}=\(one)").role(of: ["cafe\u{301}"]) == nil)
    }

    @Test(arguments: [
        "", "photo-ops", "photo-ops=", "=7kq2m9xw4bnc", "photo-ops=7kq2m9xw4bn",
        "photo-ops=mlk_7kq2m9xw4bnc", "a=7kq2m9xw4bnc,", "a=7kq2m9xw4bnc,b",
    ])
    func `a role that is none is refused with what is expected`(_ text: String) {
        let error = #expect(throws: Failure.self) { try SignInRoles(text) }
        #expect(error?.message.contains("GROUP=KEY") ?? false)
    }

    @Test(arguments: [
        "http://login.example.com", "https://login.example.com/#x", "https://u:p@login.example.com",
        "https://login.example.com\\@evil.example", "ftp://login.example.com", "login.example.com",
        "https://", "https://login.example.com/a b", "https://lögin.example.com",
        "http://localhost.evil.example", "https://login.example.com/?x=1",
    ])
    func `an issuer that is no plain https URL is refused`(_ issuer: String) {
        #expect(throws: OIDCError.self) {
            try ProviderSettings(
                issuer: issuer, clientID: "minilab", clientSecret: nil, redirectURI: "https://x/")
        }
    }

    @Test(arguments: [
        "https://login.example.com", "https://login.example.com:8443/realms/photos/",
        "http://localhost:9400", "http://127.0.0.1:9400/x", "http://[::1]:9400",
    ])
    func `https anywhere, and http on this machine`(_ issuer: String) throws {
        let settings = try ProviderSettings(
            issuer: issuer, clientID: "minilab", clientSecret: "s3cret", redirectURI: "https://x/")
        #expect(settings.issuer.string == issuer)
        #expect(
            !"\(settings)".contains("s3cret") && !String(reflecting: settings).contains("s3cret"))
    }

    @Test func `a gateway starts with no half of the settings, and says which is missing`()
        async throws
    {
        let folder = try TemporaryFolder()
        let empty = folder.file("secret")
        try Data().write(to: URL(filePath: empty))
        let issuer = ["--oidc-issuer", "https://login.example.com"]
        let origin = ["--origin", "https://photos.example.com"]
        let client = ["--oidc-client-id", "minilab"]
        let role = ["--oidc-role", "photo-ops=7kq2m9xw4bnc", "--oidc-role", "lab=p03h6tzr8vdy"]
        for (flags, says) in [
            (issuer + client + role, "gateway.origin is not"),
            (issuer + origin + role, "--oidc-client-id"), (issuer + origin + client, "--oidc-role"),
            (client + role, "gateway.oidc.issuer is not"),
            (issuer + origin + client + ["--oidc-role", "photo-ops"], "expected GROUP=KEY"),
            (["--oidc-issuer", "http://login.example.com"] + origin + client + role, "https"),
            (
                issuer + origin + client + role + ["--oidc-client-secret-file", empty],
                "the client secret file \(empty) is empty"
            ),
        ] {
            let (ending, output) = try await MinilabProcess.run(
                ["--library", folder.path, "--redis", "redis://127.0.0.1:1"] + flags,
                executable: "minilab-gateway")
            #expect(ending != .exited(0) && output.contains(says), "\(flags): \(output)")
        }
    }
}
